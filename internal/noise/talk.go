package noise

// talk is what is said around calls, in one language.
type talk struct{ user, thought, preamble, answer string }

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
