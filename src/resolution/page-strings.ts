import Negotiator from 'negotiator';
import {memoize} from '../memoize.ts';

/** The page's own texts; everything else on it comes from the link. */
export type PageStrings = {
	continue: string;
	getApp: string;
	openApp: string;
	haveApp: string;
	website: string;
	/** What the main button copies, and why. */
	copyNote: string;
	withoutCopying: string;
	codeCopied: string;
	copyLink: string;
	linkCopied: string;
	/** `{browser}` is Safari or Chrome. */
	hint: string;
	scan: string;
	/** `{url}` is the short URL. */
	qrAlt: string;
	nothing: string;
};

/** By language, in the order of contract/page 7; the first is the default. */
const strings = {
	en: {
		continue: 'Continue',
		getApp: 'Get the app',
		openApp: 'Open in the app',
		haveApp: 'I already have the app',
		website: 'Continue to the website',
		copyNote: 'The button copies a one-time code, so the app can open this page after you install it.',
		withoutCopying: 'Continue without copying',
		codeCopied: 'Code copied',
		copyLink: 'Copy link',
		linkCopied: 'Link copied',
		hint: 'Nothing happens? Open this link in {browser}.',
		scan: 'Scan with your phone to open it in the app',
		qrAlt: 'QR code for {url}',
		nothing: 'This link cannot be opened on this device.',
	},
	ar: {
		continue: 'متابعة',
		getApp: 'الحصول على التطبيق',
		openApp: 'الفتح في التطبيق',
		haveApp: 'التطبيق مثبّت لديّ بالفعل',
		website: 'المتابعة إلى الموقع',
		copyNote: 'ينسخ الزر رمزًا يُستخدم مرة واحدة، ليتمكّن التطبيق من فتح هذه الصفحة بعد تثبيته.',
		withoutCopying: 'المتابعة دون نسخ',
		codeCopied: 'تم نسخ الرمز',
		copyLink: 'نسخ الرابط',
		linkCopied: 'تم نسخ الرابط',
		hint: 'لم يحدث شيء؟ افتح هذا الرابط في {browser}.',
		scan: 'امسح الرمز بهاتفك لفتح الرابط في التطبيق',
		qrAlt: 'رمز QR للرابط {url}',
		nothing: 'لا يمكن فتح هذا الرابط على هذا الجهاز.',
	},
	es: {
		continue: 'Continuar',
		getApp: 'Obtener la app',
		openApp: 'Abrir en la app',
		haveApp: 'Ya tengo la app',
		website: 'Continuar al sitio web',
		copyNote: 'El botón copia un código de un solo uso para que la app pueda abrir esta página después de instalarla.',
		withoutCopying: 'Continuar sin copiar',
		codeCopied: 'Código copiado',
		copyLink: 'Copiar enlace',
		linkCopied: 'Enlace copiado',
		hint: '¿No pasa nada? Abre este enlace en {browser}.',
		scan: 'Escanéalo con el móvil para abrirlo en la app',
		qrAlt: 'Código QR de {url}',
		nothing: 'Este enlace no se puede abrir en este dispositivo.',
	},
	fr: {
		continue: 'Continuer',
		getApp: 'Obtenir l’application',
		openApp: 'Ouvrir dans l’application',
		haveApp: 'J’ai déjà l’application',
		website: 'Continuer vers le site',
		copyNote: 'Le bouton copie un code à usage unique pour que l’application ouvre cette page une fois installée.',
		withoutCopying: 'Continuer sans copier',
		codeCopied: 'Code copié',
		copyLink: 'Copier le lien',
		linkCopied: 'Lien copié',
		hint: 'Rien ne se passe ? Ouvrez ce lien dans {browser}.',
		scan: 'Scannez avec votre téléphone pour ouvrir dans l’application',
		qrAlt: 'QR code de {url}',
		nothing: 'Ce lien ne peut pas être ouvert sur cet appareil.',
	},
	de: {
		continue: 'Weiter',
		getApp: 'App laden',
		openApp: 'In der App öffnen',
		haveApp: 'Ich habe die App schon',
		website: 'Weiter zur Website',
		copyNote: 'Die Taste kopiert einen Einmalcode, damit die App diese Seite nach der Installation öffnen kann.',
		withoutCopying: 'Weiter, ohne zu kopieren',
		codeCopied: 'Code kopiert',
		copyLink: 'Link kopieren',
		linkCopied: 'Link kopiert',
		hint: 'Es passiert nichts? Öffne diesen Link in {browser}.',
		scan: 'Mit dem Handy scannen und in der App öffnen',
		qrAlt: 'QR-Code für {url}',
		nothing: 'Dieser Link lässt sich auf diesem Gerät nicht öffnen.',
	},
	it: {
		continue: 'Continua',
		getApp: 'Scarica l’app',
		openApp: 'Apri nell’app',
		haveApp: 'Ho già l’app',
		website: 'Vai al sito web',
		copyNote: 'Il pulsante copia un codice monouso, così l’app può aprire questa pagina dopo l’installazione.',
		withoutCopying: 'Continua senza copiare',
		codeCopied: 'Codice copiato',
		copyLink: 'Copia link',
		linkCopied: 'Link copiato',
		hint: 'Non succede nulla? Apri questo link in {browser}.',
		scan: 'Scansiona con il telefono per aprirlo nell’app',
		qrAlt: 'Codice QR di {url}',
		nothing: 'Questo link non può essere aperto su questo dispositivo.',
	},
	pt: {
		continue: 'Continuar',
		getApp: 'Baixar o app',
		openApp: 'Abrir no app',
		haveApp: 'Já tenho o app',
		website: 'Continuar para o site',
		copyNote: 'O botão copia um código de uso único para que o app possa abrir esta página depois de instalado.',
		withoutCopying: 'Continuar sem copiar',
		codeCopied: 'Código copiado',
		copyLink: 'Copiar link',
		linkCopied: 'Link copiado',
		hint: 'Não acontece nada? Abra este link no {browser}.',
		scan: 'Escaneie com o celular para abrir no app',
		qrAlt: 'QR code de {url}',
		nothing: 'Este link não pode ser aberto neste dispositivo.',
	},
	tr: {
		continue: 'Devam et',
		getApp: 'Uygulamayı edin',
		openApp: 'Uygulamada aç',
		haveApp: 'Uygulama bende zaten var',
		website: 'Web sitesine devam et',
		copyNote: 'Düğme tek kullanımlık bir kod kopyalar; böylece uygulama yüklendikten sonra bu sayfayı açabilir.',
		withoutCopying: 'Kopyalamadan devam et',
		codeCopied: 'Kod kopyalandı',
		copyLink: 'Bağlantıyı kopyala',
		linkCopied: 'Bağlantı kopyalandı',
		hint: 'Bir şey olmuyor mu? Bu bağlantıyı {browser} tarayıcısında aç.',
		scan: 'Uygulamada açmak için telefonunla tara',
		qrAlt: '{url} için QR kodu',
		nothing: 'Bu bağlantı bu cihazda açılamıyor.',
	},
	ru: {
		continue: 'Продолжить',
		getApp: 'Скачать приложение',
		openApp: 'Открыть в приложении',
		haveApp: 'У меня уже есть приложение',
		website: 'Перейти на сайт',
		copyNote: 'Кнопка скопирует одноразовый код, чтобы после установки приложение открыло эту страницу.',
		withoutCopying: 'Продолжить без копирования',
		codeCopied: 'Код скопирован',
		copyLink: 'Скопировать ссылку',
		linkCopied: 'Ссылка скопирована',
		hint: 'Ничего не происходит? Откройте эту ссылку в {browser}.',
		scan: 'Отсканируйте телефоном, чтобы открыть в приложении',
		qrAlt: 'QR-код для {url}',
		nothing: 'Эту ссылку нельзя открыть на этом устройстве.',
	},
	zh: {
		continue: '继续',
		getApp: '获取应用',
		openApp: '在应用中打开',
		haveApp: '我已安装该应用',
		website: '前往网站',
		copyNote: '点按按钮会复制一次性代码，以便应用在安装后打开此页面。',
		withoutCopying: '不复制，直接继续',
		codeCopied: '代码已复制',
		copyLink: '复制链接',
		linkCopied: '链接已复制',
		hint: '没有反应？请在 {browser} 中打开此链接。',
		scan: '用手机扫描，在应用中打开',
		qrAlt: '{url} 的二维码',
		nothing: '此链接无法在此设备上打开。',
	},
	ja: {
		continue: '続ける',
		getApp: 'アプリを入手',
		openApp: 'アプリで開く',
		haveApp: 'アプリをインストール済みの方',
		website: 'ウェブサイトに進む',
		copyNote: 'ボタンを押すと、インストール後にアプリでこのページを開くための使い捨てコードがコピーされます。',
		withoutCopying: 'コピーせずに続ける',
		codeCopied: 'コードをコピーしました',
		copyLink: 'リンクをコピー',
		linkCopied: 'リンクをコピーしました',
		hint: '何も起こらない場合は、このリンクを{browser}で開いてください。',
		scan: 'スマートフォンで読み取ってアプリで開く',
		qrAlt: '{url} のQRコード',
		nothing: 'このリンクはこの端末では開けません。',
	},
	ko: {
		continue: '계속',
		getApp: '앱 받기',
		openApp: '앱에서 열기',
		haveApp: '이미 앱이 있습니다',
		website: '웹사이트로 계속',
		copyNote: '버튼을 누르면 설치 후 앱에서 이 페이지를 열 수 있도록 일회용 코드가 복사됩니다.',
		withoutCopying: '복사하지 않고 계속',
		codeCopied: '코드가 복사되었습니다',
		copyLink: '링크 복사',
		linkCopied: '링크가 복사되었습니다',
		hint: '아무 반응이 없나요? {browser}에서 이 링크를 여세요.',
		scan: '휴대폰으로 스캔하여 앱에서 열기',
		qrAlt: '{url} QR 코드',
		nothing: '이 기기에서는 이 링크를 열 수 없습니다.',
	},
} satisfies Record<string, PageStrings>;

export type PageLanguage = keyof typeof strings;

export const pageLanguages = Object.keys(strings) as PageLanguage[];

const ACCEPT_LANGUAGE_LIMIT = 512;

const languageOf = memoize((header): PageLanguage => {
	const wanted = new Negotiator({headers: {'accept-language': header}}).language(pageLanguages);
	return pageLanguages.find((own) => own === wanted) ?? 'en';
}, 2000);

/** The page's language for an `Accept-Language` header: the best available by q-values, else English. */
export const pageLanguage = (acceptLanguage: string | undefined): PageLanguage =>
	languageOf((acceptLanguage ?? '').slice(0, ACCEPT_LANGUAGE_LIMIT));

export const pageStrings = (language: PageLanguage): PageStrings => strings[language];

/** The language's writing direction. */
export const directionOf = (language: PageLanguage): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr');
