package run

import "time"

// foreseen is the answer to an order where it is known without sending it.
func (c *Gateway) foreseen(o order) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.cfg.Now()
	if now.Before(c.until) {
		a := c.pause
		if a.means == busy {
			a.after = int(c.until.Sub(now)/time.Second) + 1
		}
		return a, true
	}
	if until := c.lacks.Get(lackKey(o.SessionKey, o.Name)); until != nil && now.Before(*until) {
		return answer{means: absent}, true
	}
	return answer{}, false
}

func lackKey(session, tool string) string { return session + "\x00" + tool }

// lacked reports whether a call of a session has shown that a tool is not there.
func (c *Gateway) lacked(session, tool string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	until := c.lacks.Get(lackKey(session, tool))
	return until != nil && c.cfg.Now().Before(*until)
}

// note remembers what an answer says of the gateway, and tells the operator once what is wrong
// with it.
func (c *Gateway) note(o order, a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	trouble := ""
	switch a.means {
	case refused:
		c.pause, c.until, trouble = a, c.cfg.Now().Add(shut), a.detail
	case busy:
		if a.detail != "" { // it asks all to wait, not this call
			c.pause, c.until, trouble = a, c.cfg.Now().Add(min(time.Duration(a.after)*time.Second,
				fresh)), a.detail
		}
	case stranger:
		trouble = "what answers is no gateway: " + a.detail
	case away:
		if a.ended {
			return
		}
		trouble = "the gateway cannot be reached: " + a.detail
	case absent:
		if o.Name != nobodys {
			until, _ := c.lacks.Use(lackKey(o.SessionKey, o.Name))
			*until = c.cfg.Now().Add(fresh)
		}
	case lost:
		return // it may be this call alone
	}
	if trouble != "" && trouble != c.trouble {
		c.cfg.Log.Warn("the gateway's tools cannot be used", "event", "gateway_trouble", "gateway", c.at.Host,
			"detail", trouble)
	} else if trouble == "" && c.trouble != "" {
		c.cfg.Log.Info("the gateway's tools can be used again", "event", "gateway_back", "gateway", c.at.Host)
	}
	c.trouble = trouble
}
