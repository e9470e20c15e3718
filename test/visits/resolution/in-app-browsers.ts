import test from 'ava';
import Joi from 'joi';
import {type InAppBrowser, wayOutOf, wayOutUrl} from '../../../src/visits/page/in-app-browsers.ts';
import {readVisitor} from '../../../src/visits/visit/visitor.ts';
import {link, organization} from '../../helpers/builders.ts';
import {anonymous} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {userAgents} from '../matches/_phones.ts';
import {corpus, read} from './_user-agents.ts';

const service = serviceOf(test);

const browsers = JSON.parse(read('config/in-app-browsers.json')) as InAppBrowser[];

test('every line of config/in-app-browsers.json names an app that is recognized, and a target that stays with the phone', (t) => {
	const {inApp} = JSON.parse(read('config/crawlers.json')) as {inApp: Array<{name: string}>};
	const line = Joi.object({
		app: Joi.valid(...new Set(inApp.map(({name}) => name))).required(),
		system: Joi.valid('ios', 'android').required(),
		target: Joi.string()
			.pattern(/^(?:[a-z-]+:\/\/[^{]*|x-safari-)\{(?:url|encodedUrl|address)\}(?:#Intent;scheme=\{scheme\};end)?$/)
			.allow(null)
			.required(),
		minOs: Joi.number().integer().min(1),
		seen: Joi.string()
			.pattern(/^20\d\d-(?:0[1-9]|1[0-2])$/)
			.required(),
	});
	const {error} = Joi.array()
		.items(line)
		.unique((a: InAppBrowser, b: InAppBrowser) => a.app === b.app && a.system === b.system)
		.validate(browsers, {abortEarly: false});
	t.is(error, undefined);
});

test('a way out is offered to in-app browsers that have one, and to nobody else', (t) => {
	const offered: Record<'android' | 'ios', Set<string>> = {android: new Set(), ios: new Set()};
	for (const {expected, userAgent} of corpus) {
		const visitor = readVisitor({userAgent});
		const line = browsers.find(({app, system}) => app === visitor.browser && expected === `${system}-inapp`);
		const isOld = (visitor.osVersion?.major ?? 99) < (line?.minOs ?? 0);
		t.is(wayOutOf(visitor), isOld ? null : (line?.target ?? null), userAgent);
		if (wayOutOf(visitor) !== null) {
			offered[visitor.platform as 'android' | 'ios'].add(String(visitor.browser));
		}
	}

	t.deepEqual([...offered.android].toSorted(), ['Facebook', 'Instagram', 'LINE', 'Telegram']);
	const ofIos = ['Facebook', 'Google', 'Instagram', 'LINE', 'LinkedIn', 'Threads', 'TikTok'];
	t.deepEqual([...offered.ios].toSorted(), ofIos);
});

test('a system that is too old for a way out is not offered it', (t) => {
	const facebook = (version: string) =>
		`Mozilla/5.0 (iPhone; CPU iPhone OS ${version} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/20A [FBAN/FBIOS;FBSV/${version.replaceAll('_', '.')}]`;
	t.is(wayOutOf(readVisitor({userAgent: facebook('16_7')})), null);
	t.is(wayOutOf(readVisitor({userAgent: facebook('17_0')})), 'x-safari-{url}');
});

test('nothing of a URL becomes another part of the target', (t) => {
	const url = 'https://go.acme.test/Ab12/sale?a=1&b=#Intent;package=evil;end';
	const hostile = encodeURIComponent('#Intent;S.x={scheme}"<>$&');
	const odd = `https://go.acme.test/Ab12/sale?q=${hostile}#end`;
	const intent = 'intent://{address}#Intent;scheme={scheme};end';
	t.is(wayOutUrl(intent, url), 'intent://go.acme.test/Ab12/sale?a=1&b=#Intent;scheme=https;end');
	t.is(wayOutUrl('x-safari-{url}', url), 'x-safari-https://go.acme.test/Ab12/sale?a=1&b=');
	t.is(wayOutUrl(intent, odd), `intent://go.acme.test/Ab12/sale?q=${hostile}#Intent;scheme=https;end`);
	const encoded = 'https%3A%2F%2Fgo.acme.test%2FAb12%2Fsale%3Fa%3D1%26b%3D';
	t.is(wayOutUrl('instagram://extbrowser/?url={encodedUrl}', url), `instagram://extbrowser/?url=${encoded}`);
});

const page = async (url: string, userAgent: string): Promise<string | null> => {
	const {pathname, search} = new URL(url);
	const {text} = await anonymous(service).get(pathname + search, {'User-Agent': userAgent});
	return /<a class="button secondary" href="([^"]*)">Open in browser<\/a>/.exec(text)?.[1] ?? null;
};
const iPhone = (app: string): string =>
	`Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21F79 ${app}`;
const telegram = `${userAgents.android.replace('K)', 'Pixel 8; wv)')} Telegram-Android/10.14.5`;

test('each in-app browser gets its own page of a link, in any order', async (t) => {
	const {url} = await link(await organization(service), {deferredDeepLinking: false});
	for (const [app, target] of [
		['Instagram 330.0', `instagram://extbrowser/?url=${encodeURIComponent(url)}`],
		['[LinkedInApp]/9.29', `x-safari-${url}`],
		['MicroMessenger/8.0', null],
		['Instagram 330.0', `instagram://extbrowser/?url=${encodeURIComponent(url)}`],
		['Safari Line/14.9', `x-safari-${url}`],
	] as const) {
		t.is(await page(url, iPhone(app)), target, app);
	}
});

test('a visit’s query leads out with it, and sets nothing of the target', async (t) => {
	const {url} = await link(await organization(service));
	const query = new URLSearchParams({
		ref: '42',
		x: '#Intent;scheme=evil;package=evil;S.a=1;end',
		y: '"><{url}{scheme}',
	});
	const carried = `${url}?${query}`;
	const scheme = new URL(url).protocol.slice(0, -1);
	const escaped = (target: string) => target.replaceAll('&', '&amp;');
	t.is(await page(carried, iPhone('[LinkedInApp]/9.29')), escaped(`x-safari-${carried}`));
	t.is(await page(carried, iPhone('Instagram 330.0')), `instagram://extbrowser/?url=${encodeURIComponent(carried)}`);
	const intent = `intent://${carried.replace(`${scheme}://`, '')}#Intent;scheme=${scheme};end`;
	t.is(await page(carried, telegram), escaped(intent));
});
