/** The number of client addresses, as a proxy's header names them. */
export const ADDRESSES = 50_000;

export const addressOf = (n: number): string => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;

export const IPHONE =
	'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';
export const ANDROID =
	'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36';

export const WINDOWS =
	'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Safari/537.36';
export const CRAWLER = 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)';

/** A phone's visit of a path, the n-th of many: every second an iPhone's, from one of the addresses. */
export const visit = ({host}: URL, path: string, n: number, more = ''): string =>
	`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-For: ${addressOf(n % ADDRESSES)}\r\n` +
	`User-Agent: ${n % 2 === 0 ? IPHONE : ANDROID}\r\nAccept: text/html,application/xhtml+xml\r\n` +
	`Accept-Language: en-US,en;q=0.9\r\n${more}\r\n`;

/** A POST of JSON from an address. `more`: further header lines. */
export const post = ({host}: URL, path: string, address: string, body: object, more = ''): string => {
	const text = JSON.stringify(body);
	return (
		`POST ${path} HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-For: ${address}\r\n` +
		`Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n${more}\r\n${text}`
	);
};
