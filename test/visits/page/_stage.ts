// Functions that run in the page are written here too; src is built without these names.
/// <reference lib="dom" />
import {type Browser, type BrowserContext, chromium, type Page, type Request} from 'playwright-core';
import {startService, type TestService} from '../../helpers/service.ts';
import {type Reader, type ReaderName, readers} from './_readers.ts';

/** The actions of a page while it was open. */
export type Visit = {
	page: Page;
	context: BrowserContext;
	/** Every URL that the page asked the browser to go to, app schemes too, in order. */
	destinations: string[];
	/** Whatever else it asked other hosts for. */
	elsewhere: string[];
	/** Its posts to the service. */
	posted: Request[];
	/** The browser's refusals and reports: policy violations, script errors, dialogs. */
	complaints: string[];
};

export type VisitOptions = Reader & {
	/** Whether the browser lets pages write the clipboard. */
	clipboard?: 'granted' | 'refused';
	/** The browser's high-entropy client hints for scripts. */
	hints?: {model: string; platformVersion: string};
	/** Scripts that run in the page before its own, in order. */
	before?: (() => void) | Array<() => void>;
	/** The page redirects this reader, so it may be gone before it has loaded. */
	leaves?: boolean;
};

/** The browser of this process, and how many stages have it: its contexts know nothing of each other. */
let shared: {launched: Promise<Browser>; stages: number} | null = null;

/** Foreign names lead nowhere, so that nothing leaves this machine. */
const launch = (): Promise<Browser> =>
	chromium.launch({
		executablePath: process.env['TEST_CHROMIUM'] ?? '',
		args: [
			'--disable-gpu',
			'--disable-quic',
			'--disable-sync',
			// One site is read here, and a process for each of its pages takes a fifth more.
			'--renderer-process-limit=2',
			'--disable-site-isolation-trials',
			'--disable-features=SpareRendererForSitePerProcess,IsolateOrigins,site-per-process',
			'--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost',
		],
	});

const borrowBrowser = (): Promise<Browser> => {
	shared ??= {launched: launch(), stages: 0};
	shared.stages += 1;
	return shared.launched;
};

const giveBack = async (browser: Browser): Promise<void> => {
	if (shared !== null) {
		shared.stages -= 1;
		if (shared.stages === 0) {
			shared = null;
			await browser.close();
		}
	}
};

/** A browser and a service that one test file shares. `url` is the service as a link's short URL names it. */
export type Stage = {browser: Browser; service: TestService; url: string; stop(): Promise<void>};

const pixel = Buffer.from(
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
	'base64',
);

export const startStage = async (env: Record<string, string> = {}): Promise<Stage> => {
	const [service, browser] = await Promise.all([startService(env), borrowBrowser()]);
	return {
		browser,
		service,
		url: `http://localhost:${new URL(service.url).port}`,
		stop: async () => {
			await giveBack(browser);
			await service.stop();
		},
	};
};

const contextOf = async ({browser, url}: Stage, {clipboard = 'granted', before, ...device}: VisitOptions) => {
	const context = await browser.newContext(device);
	// The page of the API takes a busy machine over 20 s.
	context.setDefaultTimeout(60_000);
	// Unnamed permissions are denied.
	await context.grantPermissions(clipboard === 'granted' ? ['clipboard-write'] : ['geolocation'], {origin: url});
	// tsx has functions keep their names by a helper that is not there in the page.
	await context.addInitScript('globalThis.__name = (named) => named');
	// Safari and Firefox have no client hints.
	if (!/Chrome/.test(device.userAgent ?? '')) {
		await context.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'userAgentData'));
	}

	for (const script of [before ?? []].flat()) {
		await context.addInitScript(script);
	}

	return context;
};

/** Opens a short URL as that reader; the answer has arrived and the page's script has run. */
export const visit = async (
	stage: Stage,
	t: {teardown(undo: () => Promise<void>): void},
	shortUrl: string,
	reader: ReaderName,
	options: VisitOptions = {},
): Promise<Visit> => {
	const all: VisitOptions = {...readers[reader], ...options};
	const context = await contextOf(stage, all);
	t.teardown(() => context.close());
	const page = await context.newPage();
	const [destinations, elsewhere, complaints, posted]: [string[], string[], string[], Request[]] = [[], [], [], []];
	await context.route(
		(url) => url.origin !== stage.url,
		async (route) => {
			const request = route.request();
			if (!request.isNavigationRequest()) {
				elsewhere.push(request.url());
			}

			if (request.url().includes('/missing')) {
				await route.abort();
			} else if (request.resourceType() === 'image') {
				await route.fulfill({body: pixel, contentType: 'image/png'});
			} else {
				await route.fulfill({body: 'elsewhere', contentType: 'text/html'});
			}
		},
	);
	page.on('request', (request) => request.method() === 'POST' && posted.push(request));
	page.on('console', (message) => complaints.push(message.text()));
	page.on('pageerror', (error) => complaints.push(error.message));
	page.on('dialog', async (dialog) => {
		complaints.push(`a dialog says ${dialog.message()}`);
		await dialog.dismiss();
	});
	const devtools = await context.newCDPSession(page);
	await devtools.send('Page.enable');
	devtools.on('Page.frameRequestedNavigation', ({url}) => destinations.push(url));
	if (all.touchPoints !== undefined) {
		await devtools.send('Emulation.setTouchEmulationEnabled', {enabled: true, maxTouchPoints: all.touchPoints});
	}

	if (all.hints !== undefined) {
		await devtools.send('Emulation.setUserAgentOverride', {
			userAgent: all.userAgent ?? '',
			userAgentMetadata: {platform: 'Android', architecture: '', mobile: true, ...all.hints},
		});
	}

	await page.goto(shortUrl, {waitUntil: all.leaves ? 'commit' : 'domcontentloaded'});
	return {page, context, destinations, elsewhere, posted, complaints};
};

/** The match token that the page carries. */
export const tokenOf = async ({page}: Visit): Promise<string> => {
	const {token} = JSON.parse((await page.locator('#config').textContent()) ?? '{}') as {token: unknown};
	return String(token);
};

/** The signals that the page posts, once the service has answered them. @throws where the answer is not 204. */
export const signalsOf = async ({page, posted}: Visit): Promise<unknown> => {
	const request = posted[0] ?? (await page.waitForEvent('request', (one) => one.method() === 'POST'));
	const response = await request.response();
	if (response?.status() !== 204 || !request.url().endsWith('/signals')) {
		throw new Error(`${request.url()} answers ${response?.status()}`);
	}

	return JSON.parse(request.postData() ?? 'null');
};
