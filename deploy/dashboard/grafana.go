package main

// object is a piece of Grafana's JSON. Its keys are written in their order by name, so the file is the
// same each time.
type object map[string]any

// source is the data source that the reader has chosen.
func source() object { return object{"type": "prometheus", "uid": "${source}"} }

// grafana is the dashboard as Grafana 10 and later read it. Its viewer chooses job, instances and models.
func grafana(all []section) object {
	page := layout{}
	for _, s := range all {
		page.section(s)
	}
	return object{
		"uid": "gpt-oss-executor", "title": "gpt-oss-executor", "tags": []string{"gpt-oss-executor"},
		"description":   "Made by go run ./deploy/dashboard. Change the table there, not this file.",
		"schemaVersion": 39, "editable": true, "graphTooltip": 1, "refresh": "30s", "timezone": "browser",
		"time":   object{"from": "now-6h", "to": "now"},
		"panels": page.panels,
		"templating": object{"list": []object{
			{"name": "source", "label": "Data source", "type": "datasource", "query": "prometheus"},
			choice("job", "Job", "label_values(gptoss_executor_rules_info, job)", false),
			choice("instance", "Instance", `label_values(gptoss_executor_rules_info{job="$job"}, instance)`,
				true),
			choice("model", "Model", `label_values(gptoss_executor_requests_total{job="$job"}, model)`, true),
		}},
		"annotations": object{"list": []object{{
			"name": "Rules changed", "datasource": source(), "enable": true, "iconColor": "blue",
			"titleFormat": "other rules in force",
			"expr": `changes(gptoss_executor_rules_last_reload_success_timestamp_seconds{` + of +
				`}[$__interval]) > 0`,
		}}},
		"links": []object{{"title": "What each alert means", "type": "link", "targetBlank": true,
			"url": "https://github.com/jgavinray/gpt-oss-executor/blob/main/docs/deploying.md"}},
	}
}

// choice is a list above the panels.
func choice(name, label, query string, many bool) object {
	o := object{
		"name": name, "label": label, "type": "query", "datasource": source(), "query": object{"query": query,
			"refId": name},
		"definition": query, "refresh": 2, "sort": 1, "multi": many, "includeAll": many,
	}
	if many {
		o["allValue"] = ".*"
		o["current"] = object{"text": "All", "value": "$__all"}
	}
	return o
}

// height is how many rows of the grid a panel has.
var height = map[kind]int{number: 4, lines: 8, stack: 8, table: 8}

// layout puts panels on a grid of 24 columns.
type layout struct {
	panels []object
	y, id  int
}

func (l *layout) section(s section) {
	row := object{"id": l.next(), "type": "row", "title": s.title, "collapsed": s.closed,
		"gridPos": object{"x": 0, "y": l.y, "w": 24, "h": 1}, "panels": []object{}}
	l.y++
	var inside []object
	x, tall := 0, 0
	for _, p := range s.panels {
		if x+p.width > 24 {
			x, l.y = 0, l.y+tall
		}
		tall = height[p.kind]
		o := l.panel(p)
		o["gridPos"] = object{"x": x, "y": l.y, "w": p.width, "h": tall}
		inside = append(inside, o)
		x += p.width
	}
	l.y += tall
	if s.closed { // Grafana keeps the panels of a closed row in it
		row["panels"] = inside
		inside = nil
	}
	l.panels = append(append(l.panels, row), inside...)
}

func (l *layout) next() int { l.id++; return l.id }

func (l *layout) panel(p panel) object {
	var targets []object
	for i, q := range p.queries {
		t := object{"refId": string(rune('A' + i)), "datasource": source(), "expr": q.expr,
			"legendFormat": q.legend, "editorMode": "code"}
		switch p.kind {
		case number:
			t["instant"], t["range"] = true, false
		case table:
			t["instant"], t["range"], t["format"] = true, false, "table"
		}
		targets = append(targets, t)
	}
	defaults := object{"unit": p.unit, "custom": object{}}
	o := object{"id": l.next(), "title": p.title, "description": p.about, "type": string(p.kind),
		"datasource": source(), "targets": targets}
	switch p.kind {
	case number:
		delete(defaults, "custom")
		defaults["thresholds"] = steps(p.marks)
		o["options"] = object{"reduceOptions": object{"calcs": []string{"lastNotNull"}}, "colorMode": "value",
			"graphMode": "none"}
	case table:
		o["transformations"] = []object{{"id": "organize",
			"options": object{"excludeByName": object{"Time": true}}}}
		o["options"] = object{"sortBy": []object{{"displayName": "Value", "desc": true}}}
	default:
		custom := object{"fillOpacity": 10, "showPoints": "never"}
		if p.kind == stack {
			custom["stacking"] = object{"mode": "normal", "group": "A"}
			o["type"] = string(lines)
		}
		defaults["custom"], defaults["min"] = custom, 0
		o["options"] = object{"legend": object{"displayMode": "table", "placement": "right",
			"calcs": []string{"lastNotNull", "max"}}, "tooltip": object{"mode": "multi", "sort": "desc"}}
	}
	o["fieldConfig"] = object{"defaults": defaults, "overrides": []object{}}
	return o
}

// steps are the colours of a number; the first one holds for all below the second.
func steps(marks []mark) object {
	var list []object
	for i, m := range marks {
		step := object{"color": m.colour, "value": m.from}
		if i == 0 {
			step["value"] = nil
		}
		list = append(list, step)
	}
	return object{"mode": "absolute", "steps": list}
}
