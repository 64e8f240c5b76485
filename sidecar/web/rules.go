package web

import "time"

// Load is the section load of limits.yaml.
type Load struct {
	Shed       int           `rule:"shed" min:"10" max:"100" doc:"From how many percent of the memory limit on new requests get 503. They are let in again ten percent below. Where there is no limit, nothing is refused." eg:"85"`
	RetryAfter time.Duration `rule:"retry_after" min:"1s" doc:"The header Retry-After of that 503." eg:"5s"`
	AtOnce     int           `rule:"at_once" min:"1" max:"1000000" doc:"How many requests are served at once. More wait, and one of each session is let in, in turn." eg:"10000"`
	Waiting    int           `rule:"waiting" min:"0" max:"1000000" doc:"How many requests may wait. Any more get 503." eg:"1000"`
	Wait       time.Duration `rule:"wait" min:"10ms" doc:"How long one may wait. Then it gets 503." eg:"30s"`
}

// UsualLoad is what holds where limits.yaml does not say it.
func UsualLoad() Load {
	return Load{Shed: 85, RetryAfter: 5 * time.Second, AtOnce: 10_000, Waiting: 1000, Wait: 30 * time.Second}
}

// Pace is how much one session, or one caller, may ask.
type Pace struct {
	AtOnce    int `rule:"at_once" min:"1" max:"1000000" doc:"Requests at the same time." eg:"32"`
	PerMinute int `rule:"per_minute" min:"1" max:"10000000" doc:"Requests in a minute, on average. As many may come in one burst." eg:"600"`
}
