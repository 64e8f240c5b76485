#!/usr/bin/env node
'use strict';
// Becomes the program of the package for this machine. Where Node cannot (Windows, and Node before 22.15), and
// behind npx, it starts the program and stands for it: signals, exit code and the three streams are its own.

const { spawn } = require('node:child_process');
const { isatty } = require('node:tty');
const os = require('node:os');

const args = process.argv.slice(2);
const file = program();
// npx and npm run put a shell before this process, which dies of a signal and does not pass it on.
const behindNpm = /^['"]?gpt-oss-executor\b/.test(process.env.npm_lifecycle_script || '');
if (process.platform !== 'win32' && typeof process.execve === 'function' && !behindNpm) {
  try {
    process.execve(file, [file, ...args], process.env);
  } catch (err) {
    end(err.message);
  }
} else {
  stand();
}

// The program, or words for a person who has to find out why npm left it out.
function program() {
  const { optionalDependencies: all = {}, version } = require('./package.json');
  const name = `@gpt-oss-executor/${process.platform}-${process.arch}`;
  const binary = process.platform === 'win32' ? 'gpt-oss-executor.exe' : 'gpt-oss-executor';
  if (!(name in all)) {
    const built = Object.keys(all).map((n) => n.slice(n.indexOf('/') + 1)).join(', ');
    end(`there is no package for ${process.platform}-${process.arch}; there is one for ${built}\n` +
      'Where Go is: go install github.com/jgavinray/gpt-oss-executor@latest');
  }
  try {
    return require.resolve(`${name}/${binary}`);
  } catch (err) {
    if (err.code !== 'MODULE_NOT_FOUND') throw err;
    end(`the package ${name} is missing, which holds the program for this machine\n` +
      'npm leaves it out with --omit=optional or --no-optional, and if node_modules or package-lock.json\n' +
      `came from another machine. Install again here without these: npm install gpt-oss-executor@${version}`);
  }
}

function end(why) {
  process.stderr.write(`gpt-oss-executor: ${why}\n`);
  process.exit(1);
}

function stand() {
  const child = spawn(file, args, { stdio: 'inherit' });
  child.on('error', (err) => end(err.message));
  // A Ctrl-C reaches the program from the terminal, and twice would mean at once.
  const typed = [0, 1, 2].some((fd) => isatty(fd));
  const passed = process.platform === 'win32' ? [] : ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'];
  let told = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) {
    if (process.platform === 'win32' && signal !== 'SIGINT') continue;
    process.on(signal, () => {
      told = true;
      if (passed.includes(signal) && !(typed && (signal === 'SIGINT' || signal === 'SIGQUIT'))) child.kill(signal);
    });
  }
  const watch = process.platform !== 'win32' && child.pid && watcher(child.pid);
  if (behindNpm) {
    const shell = process.ppid;
    setInterval(() => {
      if (process.ppid === shell || told) return;
      told = true;
      child.kill('SIGTERM');
    }, 200).unref();
  }
  child.on('exit', (code, signal) => {
    if (watch) watch.stdin.end('gone\n');
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    setTimeout(() => process.exit(128 + os.constants.signals[signal]), 1000); // a signal that is held back here
  });
}

// A shell that reads a line, and ends the program if there is none because this process was killed. On
// Windows, Node ends what it started.
function watcher(pid) {
  const w = spawn('/bin/sh', ['-c', 'read -r _ || kill -TERM "$0" 2>/dev/null', String(pid)],
    { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  w.on('error', () => {}); // without a shell nobody watches
  w.stdin.on('error', () => {});
  w.unref();
  w.stdin.unref();
  return w;
}
