import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {type Answer, anonymous, type Headers} from '../../helpers/callers.ts';
import type {TestService} from '../../helpers/service.ts';

export const userAgents = {
	iPhone:
		'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
	iPhoneChrome:
		'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/126.0.6478.54 Mobile/15E148 Safari/604.1',
	android:
		'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36',
	iPad: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
	windows:
		'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Safari/537.36',
};

/** What the app on the phone of `visit` says of it. */
export const iPhoneApp = {
	platform: 'iOS',
	osVersion: '17.5.1',
	deviceModel: 'iPhone15,2',
	language: 'en-US',
	timezone: 'America/New_York',
};

let networks = 0;

/** A network of its own, far from every other test's: the addresses of a /24. */
export const network = (): ((host: number) => string) => {
	networks += 1;
	const prefix = `172.${16 + (networks >> 8)}.${networks & 255}`;
	return (host) => `${prefix}.${host}`;
};

export type Visit = {token: string | null; answer: Answer; cookie: string | null};

export const pathOf = (url: string): string => new URL(url).pathname;

/** Opens the link's page as the iPhone of `iPhoneApp` does, by default. */
export const visit = async (
	service: TestService,
	{url}: {url: string},
	address: string,
	{
		userAgent = userAgents.iPhone,
		language = 'en-US',
		timezone = 'America/New_York' as string | null,
		headers = {},
		query = '',
	} = {},
): Promise<Visit> => {
	const sent: Headers = {
		'User-Agent': userAgent,
		'Accept-Language': language,
		...(timezone === null ? {} : {'Sec-CH-Timezone': `"${timezone}"`}),
		...headers,
	};
	const answer = await anonymous(service, address).get(`${pathOf(url)}${query}`, sent);
	if (answer.status !== 200) {
		throw new Error(`a visit got ${answer.status}: ${answer.text}`);
	}

	const cookie = [answer.headers['set-cookie'] ?? []].flat()[0]?.split(';')[0] ?? null;
	return {token: /opl_[A-Za-z0-9]{32}/.exec(answer.text)?.[0] ?? null, answer, cookie};
};

/** Posts the signals of the page that `visit` opened. */
export const sendSignals = (
	service: TestService,
	{url}: {url: string},
	body: object,
	headers: Headers = {},
): Promise<Answer> =>
	anonymous(service).post(`${pathOf(url)}/signals`, JSON.stringify(body), {'Content-Type': 'text/plain', ...headers});

/** An app's request for its match. */
export const open = (
	service: TestService,
	address: string,
	fields: object = {},
	{clientKey}: Partial<Pick<TestOrganization, 'clientKey'>> = {},
): Promise<Answer> =>
	anonymous(service, address).post('/match', fields, clientKey === undefined ? {} : {'X-API-Key': clientKey});

/** The match of an app, as `open` asks for it. */
export const match = async (...given: Parameters<typeof open>) => (await open(...given)).body;

/** The app of `iPhoneApp` on a device of that name. */
export const device = (deviceId: string) => ({...iPhoneApp, deviceId});

export const nothing = {matched: false, matchMethod: 'NONE'};

export const byClipboard = {matched: true, matchMethod: 'CLIPBOARD', matchConfidence: 'exact'};

/** A link, and a click on it from `address`. */
export const clicked = async (service: TestService, organization: TestOrganization, address: string, body = {}) => {
	const made = await link(organization, body);
	return {link: made, ...(await visit(service, made, address))};
};

/** A new organization, as `acme`, and a click on a new link of it, from an `address` in a network of its own. */
export const tapped = async (service: TestService, body = {}, made: Parameters<typeof organization>[1] = {}) => {
	const acme = await organization(service, made);
	const address = network()(1);
	return {acme, address, ...(await clicked(service, acme, address, body))};
};
