// say.c makes an unchanged llama-server say a script. It is loaded before llama.cpp (LD_PRELOAD), and raises the logit of
// the next token of the script in what the model computed. Everything behind that is real: a grammar still forbids what
// it forbids, and the sampler, the parser and the server see nothing else.
//
// Its tokens are those of the tiny model of package modelserver: a byte is the token of its number, Harmony's special
// tokens follow.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "llama.h"

static const char *special[] = {"<|startoftext|>", "<|endoftext|>", "<|return|>", "<|constrain|>", "<|channel|>",
                                "<|start|>", "<|end|>", "<|message|>", "<|call|>", "<|endofprompt|>"};
enum { specials = sizeof special / sizeof *special, vocabulary = 256 + specials, end = 258 };

static char text[1 << 20], *rest; // the reply, and what of it is still to be said
static int asked = 1, computed;   // a new reply is wanted; the model has computed since the last token
static int token = end;

// ask sends a request to the script of the test, at $MODEL_SCRIPT, and reads the answer to its end.
static size_t ask(const char *request, char *answer, size_t size) {
  const char *colon = strrchr(getenv("MODEL_SCRIPT"), ':');
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(colon + 1)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int s = socket(AF_INET, SOCK_STREAM, 0);
  size_t n = 0;
  if (connect(s, (struct sockaddr *)&to, sizeof to) == 0 && write(s, request, strlen(request)) > 0)
    for (ssize_t got; n < size && (got = read(s, answer + n, size - n)) > 0;) n += got;
  close(s);
  return n;
}

// last ends this process when the test that started it has ended.
static void *last(void *unused) {
  char answer[512];
  ask("GET /alive HTTP/1.0\r\n\r\n", answer, sizeof answer);
  _exit(0);
}

__attribute__((constructor)) static void started(void) {
  pthread_t t;
  pthread_create(&t, NULL, last, NULL);
}

// advance takes the next token from the script.
static void advance(void) {
  if (asked) {
    text[ask("POST /next HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}", text, sizeof text - 1)] = 0;
    rest = strstr(text, "\r\n\r\n");
    rest = rest ? rest + 4 : "";
    asked = 0;
  }
  token = *rest ? (unsigned char)*rest : end;
  size_t length = *rest ? 1 : 0;
  for (int i = 0; i < specials; i++)
    if (strncmp(rest, special[i], strlen(special[i])) == 0) token = 256 + i, length = strlen(special[i]);
  rest += length;
}

// real is the function of llama.cpp that one below stands before.
#define real(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// A sampler is made for each reply.
struct llama_sampler *llama_sampler_chain_init(struct llama_sampler_chain_params params) {
  asked = 1;
  return real(llama_sampler_chain_init)(params);
}

int32_t llama_decode(struct llama_context *context, struct llama_batch batch) {
  computed = 1;
  return real(llama_decode)(context, batch);
}

// The sampler asks twice for the logits of a token that the grammar refuses.
float *llama_get_logits_ith(struct llama_context *context, int32_t i) {
  float *logits = real(llama_get_logits_ith)(context, i);
  if (computed) advance();
  computed = 0;
  memset(logits, 0, vocabulary * sizeof *logits);
  logits[token] = 1e4;
  return logits;
}
