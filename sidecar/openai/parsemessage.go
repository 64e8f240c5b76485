package openai

// message reads one entry of messages.
func (p *requestParser) message(i int) {
	p.q.Messages = append(p.q.Messages, Message{})
	m := &p.q.Messages[len(p.q.Messages)-1]
	m.From = p.Pos
	for ok := p.Enter('{'); ok && p.Next('}'); {
		key, at := p.Key()
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
		case "reasoning_content", "reasoning", "thinking", "reasoning_text", "reasoning_details":
			p.reasoning(m, at, string(key))
		}
	}
	m.To = p.Pos
	if m.Role == "" {
		p.missing(m.Span, "messages[%d].role", i)
	}
}

// content reads a string, null, or an array of parts.
func (p *requestParser) content(i int) Span {
	c, from := p.Peek(), p.Pos
	if c != '[' {
		at := p.Skip()
		if c != '"' && c != 'n' {
			p.wrong(at, "a string, null or an array of parts", "messages[%d].content", i)
		}
		return at
	}
	part := 0
	for ok := p.Enter('['); ok && p.Next(']'); {
		c := p.Peek()
		if at := p.Skip(); c != '{' && c != '"' {
			p.wrong(at, "an object", "messages[%d].content[%d]", i, part)
		}
		part++
	}
	return Span{From: from, To: p.Pos}
}

// reasoning notes a chain of thought that has text. reasoning_content, the name
// that OpenClaw replays, wins over the others, and each of them over reasoning_details.
func (p *requestParser) reasoning(m *Message, key Span, name string) {
	at := p.Skip()
	if p.Err != nil || at.To-at.From == 2 || p.Doc[at.From] != '"' && (name != "reasoning_details" ||
		detailsText(p.Doc, at) == "") {
		return
	}
	if m.ReasoningIn == "" || name == "reasoning_content" || m.ReasoningIn == "reasoning_details" {
		m.Reasoning, m.ReasoningKey, m.ReasoningIn = at, key, name
	}
}

func (p *requestParser) messageCalls(m *Message, i int) {
	m.Calls = nil
	m.CallsSpan = p.list(func(j int) {
		m.Calls = append(m.Calls, p.messageCall(i, j))
	}, "messages[%d].tool_calls", i)
}

func (p *requestParser) messageCall(i, j int) (c MessageCall) {
	c.From = p.Pos
	for ok := p.Enter('{'); ok && p.Next('}'); {
		switch key, _ := p.Key(); string(key) {
		case "id":
			c.ID, c.IDSpan = p.text("messages[%d].tool_calls[%d].id", i, j)
		case "function":
			for ok := p.Enter('{'); ok && p.Next('}'); {
				switch key, _ := p.Key(); string(key) {
				case "name":
					c.Name, c.NameSpan = p.text("messages[%d].tool_calls[%d].function.name", i, j)
				case "arguments":
					c.ArgsSpan = p.Skip()
				}
			}
		}
	}
	c.To = p.Pos
	return c
}
