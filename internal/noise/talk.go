package noise

// talk is what is said around calls, in one language.
type talk struct{ user, thought, preamble, answer string }

// remarks are said in front of a call that is made, and might be said in front of one that is not.
func remarks() []string {
	return []string{
		"I could not find it in the log, so I will look it up:", "There is no such entry yet. Let me check:",
		"The docs say nothing about it. I'll see for myself:",
		"I do not know that, so let me see:", "The example is not enough.",
		"The format is unclear; checking:", "It did not work without it. Next try:",
		"Das steht nicht im Protokoll, deshalb sehe ich nach:",
		"Je ne trouve pas le fichier, donc je vais vérifier :", "No lo veo aquí, así que voy a buscarlo:",
		"Не вижу этого в журнале, поэтому проверю:", "日志里没有，我来查一下：", "記録にはないので、確認します。",
	}
}

func languages() []talk {
	return []talk{
		{"Please take care of it.", "We need to look at it first. Then decide.", "I will look into that now.", "It is done, and all is well."},
		{"Bitte kümmere dich darum.", "Der Benutzer möchte, dass ich nachsehe.", "Ich sehe gleich nach.", "Das ist erledigt, alles ist gut."},
		{"Peux-tu t'en occuper ?", "Il faut d'abord vérifier l'état.", "Je vérifie tout de suite.", "C'est fait, tout va bien."},
		{"¿Puedes encargarte?", "Primero hay que mirar los datos.", "Voy a mirarlo ahora.", "Ya está hecho, todo va bien."},
		{"Pode tratar disso?", "Primeiro preciso verificar os dados.", "Vou verificar agora.", "Está feito, está tudo bem."},
		{"Займись этим, пожалуйста.", "Сначала нужно посмотреть данные.", "Сейчас посмотрю.", "Готово, всё в порядке."},
		{"请处理一下。", "我们需要先查看数据。", "我现在来查看。", "已经完成，一切正常。"},
		{"お願いします。", "まずデータを確認する必要がある。", "今すぐ確認します。", "完了しました。問題ありません。"},
		{"처리해 주세요.", "먼저 데이터를 확인해야 한다.", "지금 확인하겠습니다.", "완료했습니다. 문제가 없습니다."},
		{"من فضلك اهتم بالأمر.", "يجب أن أتحقق من البيانات أولاً.", "سأتحقق من ذلك الآن.", "تم الأمر وكل شيء على ما يرام."},
	}
}
