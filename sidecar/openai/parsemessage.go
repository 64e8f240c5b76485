package openai

// message reads one entry of messages.
func (p *requestParser) message(i int) {
	p.q.Messages = append(p.q.Messages, Message{})
	m := &p.q.Messages[len(p.q.Messages)-1]
	m.From = p.pos
	for ok := p.enter('{'); ok && p.next('}'); {
		key, at := p.key()
		switch string(key) {
		case "role":
			m.Role, m.RoleSpan = p.text("messages[%d].role", i)
		case "content":
			m.Content = p.content(i)
		case "name":
			m.Name, m.NameSpan = p.text("messages[%d].name", i)
		case "tool_call_id":
			m.CallID, m.CallIDSpan = p.text("messages[%d].tool_call_id", i)
		case "tool_calls":
			p.messageCalls(m, i)
		case "reasoning_content":
			p.reasoning(m, at, "reasoning_content")
		case "reasoning":
			p.reasoning(m, at, "reasoning")
		case "thinking":
			p.reasoning(m, at, "thinking")
		default:
			p.skip()
		}
	}
	m.To = p.pos
	if m.Role == "" {
		p.missing(m.Span, "messages[%d].role", i)
	}
}

// content reads a string, null, or an array of parts.
func (p *requestParser) content(i int) Span {
	c, from := p.peek(), p.pos
	if c != '[' {
		at := p.skip()
		if c != '"' && c != 'n' {
			p.wrong(at, "a string, null or an array of parts", "messages[%d].content", i)
		}
		return at
	}
	part := 0
	for ok := p.enter('['); ok && p.next(']'); {
		c := p.peek()
		if at := p.skip(); c != '{' && c != '"' {
			p.wrong(at, "an object", "messages[%d].content[%d]", i, part)
		}
		part++
	}
	return Span{from, p.pos}
}

// reasoning notes a chain of thought that has text. reasoning_content, the name
// that OpenClaw replays, wins over the others.
func (p *requestParser) reasoning(m *Message, key Span, name string) {
	at := p.skip()
	if p.err != nil || p.doc[at.From] != '"' || at.To-at.From == 2 {
		return
	}
	if m.ReasoningIn == "" || name == "reasoning_content" {
		m.Reasoning, m.ReasoningKey, m.ReasoningIn = at, key, name
	}
}

func (p *requestParser) messageCalls(m *Message, i int) {
	c := p.peek()
	m.CallsSpan.From, m.Calls = p.pos, nil
	if c != '[' {
		m.CallsSpan = p.skip()
		if !p.null(m.CallsSpan) {
			p.wrong(m.CallsSpan, "an array", "messages[%d].tool_calls", i)
		}
		return
	}
	for ok := p.enter('['); ok && p.next(']'); {
		if p.peek() != '{' {
			p.wrong(p.skip(), "an object", "messages[%d].tool_calls[%d]", i, len(m.Calls))
			continue
		}
		m.Calls = append(m.Calls, MessageCall{})
		p.messageCall(&m.Calls[len(m.Calls)-1], i, len(m.Calls)-1)
	}
	m.CallsSpan.To = p.pos
}

func (p *requestParser) messageCall(c *MessageCall, i, j int) {
	c.From = p.pos
	for ok := p.enter('{'); ok && p.next('}'); {
		switch key, _ := p.key(); string(key) {
		case "id":
			c.ID, c.IDSpan = p.text("messages[%d].tool_calls[%d].id", i, j)
		case "function":
			for ok := p.enter('{'); ok && p.next('}'); {
				switch key, _ := p.key(); string(key) {
				case "name":
					c.Name, c.NameSpan = p.text("messages[%d].tool_calls[%d].function.name", i, j)
				case "arguments":
					c.ArgsSpan = p.skip()
				default:
					p.skip()
				}
			}
		default:
			p.skip()
		}
	}
	c.To = p.pos
}
