import type {PageLanguage} from './page-strings.ts';

/** The headings of the pages without a link. `{host}` is the host to which an unknown code leads. */
export type Notice = 'leadsTo' | 'notFound' | 'gone';

export const noticeStrings: Readonly<Record<PageLanguage, Record<Notice, string>>> = {
	en: {
		leadsTo: 'This link leads to {host}',
		notFound: 'This link does not exist',
		gone: 'This link is no longer available',
	},
	ar: {
		leadsTo: 'يؤدي هذا الرابط إلى {host}',
		notFound: 'هذا الرابط غير موجود',
		gone: 'لم يعد هذا الرابط متاحًا',
	},
	es: {
		leadsTo: 'Este enlace lleva a {host}',
		notFound: 'Este enlace no existe',
		gone: 'Este enlace ya no está disponible',
	},
	fr: {leadsTo: 'Ce lien mène à {host}', notFound: 'Ce lien n’existe pas', gone: 'Ce lien n’est plus disponible'},
	de: {
		leadsTo: 'Dieser Link führt zu {host}',
		notFound: 'Diesen Link gibt es nicht',
		gone: 'Diesen Link gibt es nicht mehr',
	},
	it: {
		leadsTo: 'Questo link porta a {host}',
		notFound: 'Questo link non esiste',
		gone: 'Questo link non è più disponibile',
	},
	pt: {
		leadsTo: 'Este link leva a {host}',
		notFound: 'Este link não existe',
		gone: 'Este link não está mais disponível',
	},
	tr: {
		leadsTo: 'Bu bağlantı {host} adresine gider',
		notFound: 'Böyle bir bağlantı yok',
		gone: 'Bu bağlantı artık kullanılamıyor',
	},
	ru: {leadsTo: 'Эта ссылка ведёт на {host}', notFound: 'Такой ссылки нет', gone: 'Эта ссылка больше недоступна'},
	zh: {leadsTo: '此链接将转到 {host}', notFound: '此链接不存在', gone: '此链接已失效'},
	ja: {
		leadsTo: 'このリンクは {host} に移動します',
		notFound: 'このリンクは存在しません',
		gone: 'このリンクは現在ご利用いただけません',
	},
	ko: {
		leadsTo: '이 링크는 {host}(으)로 연결됩니다',
		notFound: '존재하지 않는 링크입니다',
		gone: '더 이상 사용할 수 없는 링크입니다',
	},
};
