import type {PageLanguage} from './page-strings.ts';

/** A page in place of a link's: where an unknown code or a listed link leads, or why there is nothing. */
export type Notice = 'leadsTo' | 'notFound' | 'gone' | 'blocked' | 'warned';

/** The heading, and advice for the reader. `{host}` is the host to which an unknown code leads. */
type NoticeStrings = Record<Exclude<Notice, 'blocked' | 'warned'>, string> &
	Record<'notFoundAdvice' | 'goneAdvice', string>;

export const noticeStrings: Readonly<Record<PageLanguage, NoticeStrings>> = {
	en: {
		leadsTo: 'This link leads to {host}',
		notFound: 'This link does not exist',
		notFoundAdvice: 'Check the address for typing errors, or ask the person who sent you the link.',
		gone: 'This link is no longer available',
		goneAdvice: 'Check the address, or ask the person who sent you the link for a new one.',
	},
	ar: {
		leadsTo: 'يؤدي هذا الرابط إلى {host}',
		notFound: 'هذا الرابط غير موجود',
		notFoundAdvice: 'تحقّق من خلوّ العنوان من الأخطاء الإملائية، أو اسأل الشخص الذي أرسل إليك الرابط.',
		gone: 'لم يعد هذا الرابط متاحًا',
		goneAdvice: 'تحقّق من العنوان، أو اطلب رابطًا جديدًا من الشخص الذي أرسله إليك.',
	},
	es: {
		leadsTo: 'Este enlace lleva a {host}',
		notFound: 'Este enlace no existe',
		notFoundAdvice: 'Comprueba que la dirección esté bien escrita o pregunta a quien te envió el enlace.',
		gone: 'Este enlace ya no está disponible',
		goneAdvice: 'Comprueba la dirección o pide un enlace nuevo a quien te lo envió.',
	},
	fr: {
		leadsTo: 'Ce lien mène à {host}',
		notFound: 'Ce lien n’existe pas',
		notFoundAdvice: 'Vérifiez que l’adresse est bien écrite ou demandez à la personne qui vous a envoyé le lien.',
		gone: 'Ce lien n’est plus disponible',
		goneAdvice: 'Vérifiez l’adresse ou demandez un nouveau lien à la personne qui vous l’a envoyé.',
	},
	de: {
		leadsTo: 'Dieser Link führt zu {host}',
		notFound: 'Diesen Link gibt es nicht',
		notFoundAdvice: 'Prüfe die Adresse auf Tippfehler oder frage die Person, die dir den Link geschickt hat.',
		gone: 'Diesen Link gibt es nicht mehr',
		goneAdvice: 'Prüfe die Adresse oder bitte die Person, die dir den Link geschickt hat, um einen neuen.',
	},
	it: {
		leadsTo: 'Questo link porta a {host}',
		notFound: 'Questo link non esiste',
		notFoundAdvice: 'Controlla che l’indirizzo sia scritto correttamente o chiedi a chi ti ha inviato il link.',
		gone: 'Questo link non è più disponibile',
		goneAdvice: 'Controlla l’indirizzo o chiedi un nuovo link a chi te lo ha inviato.',
	},
	pt: {
		leadsTo: 'Este link leva a {host}',
		notFound: 'Este link não existe',
		notFoundAdvice: 'Verifique se o endereço foi digitado corretamente ou pergunte a quem enviou o link.',
		gone: 'Este link não está mais disponível',
		goneAdvice: 'Verifique o endereço ou peça um novo link a quem o enviou.',
	},
	tr: {
		leadsTo: 'Bu bağlantı {host} adresine gider',
		notFound: 'Böyle bir bağlantı yok',
		notFoundAdvice: 'Adreste yazım hatası olup olmadığını kontrol et veya bağlantıyı sana gönderen kişiye sor.',
		gone: 'Bu bağlantı artık kullanılamıyor',
		goneAdvice: 'Adresi kontrol et veya bağlantıyı sana gönderen kişiden yenisini iste.',
	},
	ru: {
		leadsTo: 'Эта ссылка ведёт на {host}',
		notFound: 'Такой ссылки нет',
		notFoundAdvice: 'Проверьте, нет ли в адресе опечатки, или спросите того, кто прислал вам ссылку.',
		gone: 'Эта ссылка больше недоступна',
		goneAdvice: 'Проверьте адрес или попросите новую ссылку у того, кто её прислал.',
	},
	zh: {
		leadsTo: '此链接将转到 {host}',
		notFound: '此链接不存在',
		notFoundAdvice: '请检查地址是否有误，或询问将链接发给你的人。',
		gone: '此链接已失效',
		goneAdvice: '请检查地址，或向将链接发给你的人索取新链接。',
	},
	ja: {
		leadsTo: 'このリンクは {host} に移動します',
		notFound: 'このリンクは存在しません',
		notFoundAdvice: 'アドレスに入力ミスがないか確認するか、リンクを送ってきた人に問い合わせてください。',
		gone: 'このリンクは現在ご利用いただけません',
		goneAdvice: 'アドレスを確認するか、リンクを送ってきた人に新しいリンクを依頼してください。',
	},
	ko: {
		leadsTo: '이 링크는 {host}(으)로 연결됩니다',
		notFound: '존재하지 않는 링크입니다',
		notFoundAdvice: '주소에 오타가 없는지 확인하거나 링크를 보낸 사람에게 문의하세요.',
		gone: '더 이상 사용할 수 없는 링크입니다',
		goneAdvice: '주소를 확인하거나 링크를 보낸 사람에게 새 링크를 요청하세요.',
	},
};
