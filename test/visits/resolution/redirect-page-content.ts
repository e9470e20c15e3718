import {createHash} from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import type {LinkView} from '../../../src/visits/page/link-view.ts';
import {pageParts} from '../../../src/visits/page/redirect-page.ts';
import {type PageLanguage, pageLanguages, translations} from '../../../src/visits/page/translations.ts';
import type {VisitorClass} from '../../../src/visits/visit/visitor.ts';
import {headerRecord, hostileTexts, linkView, matchToken} from '../../fixtures/link-view.ts';
import {anchorsOf, classes, configOf, qrSvg, render, textOf} from './_redirect-page.ts';

test('a stored target that is unsafe is not shown', (t) => {
	for (const fallbackUrl of ['javascript:alert(1)', 'https://go.example.com/AB12/other', 'https://user@example.com/']) {
		const page = render('desktop', {fallbackUrl});
		t.false(page.includes(fallbackUrl));
		t.is(configOf(page).redirectTo, null);
	}

	const ios = {bundleId: 'a.b', teamId: 'ABCDE12345', appStoreId: '1"x', scheme: 'javascript'};
	t.deepEqual(anchorsOf(render('ios-browser', {ios, fallbackUrl: null})), []);
});

test('the image is loaded over https only, without telling the page that it is on', (t) => {
	t.true(render('desktop').includes('<img src="https://img.example.com/1.png" alt="" referrerpolicy="no-referrer">'));
	const og = {title: null, description: null, imageUrl: 'http://img.example.com/1.png'};
	t.false(render('desktop', {og}).includes('<img'));
});

test('the page loads only the image, and holds no inline handler or style', (t) => {
	for (const visitorClass of classes) {
		const page = render(visitorClass);
		t.deepEqual(page.match(/ src="[^"]*"/g), [' src="https://img.example.com/1.png"'], visitorClass);
		t.notRegex(page, /<link rel="(?!icon" href="data:,"|canonical")|@import|url\(/, visitorClass);
		t.notRegex(page, /<[^>]* (?:style|on[a-z]+)=/, visitorClass);
	}
});

const drawn = (visitorClass: VisitorClass, language: PageLanguage = 'en', overrides: Partial<LinkView> = {}) =>
	pageParts(linkView(overrides), {visitor: {class: visitorClass}, language, globalPrivacyControl: false, qrSvg});

test('the policy names the hashes of the one style and the one script that a page has, whatever its content', (t) => {
	const hashesOf = (page: string, tag: string) =>
		[...page.matchAll(new RegExp(`<${tag}>([^<]*(?:<(?!/${tag}>)[^<]*)*)</${tag}>`, 'g'))].map(
			([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
		);
	const policies = new Set<string>();
	for (const visitorClass of classes) {
		for (const overrides of [{}, {token: null}, {og: {title: null, description: null, imageUrl: null}}]) {
			const page = drawn(visitorClass, 'en', overrides);
			const [[script, ...scripts], [style, ...styles]] = [
				hashesOf(textOf(page), 'script'),
				hashesOf(textOf(page), 'style'),
			];
			t.deepEqual([scripts, styles], [[], []]);
			const {'Content-Security-Policy': policy = ''} = headerRecord(page.template.headers);
			t.is(
				policy,
				`default-src 'none'; script-src ${script}; style-src ${style}; img-src https: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
			);
			policies.add(policy);
		}
	}

	t.true(policies.size > 5);
});

test('the page is never cached, asks for the timezone and names its language', (t) => {
	t.like(headerRecord(drawn('ios-browser', 'ar').template.headers), {
		'Content-Type': 'text/html; charset=utf-8',
		'Content-Language': 'ar',
		'Cache-Control': 'no-store',
		'Accept-CH': 'Sec-CH-Timezone',
		Vary: 'User-Agent, Accept-Language',
		'X-Robots-Tag': 'noindex, nofollow',
		'Referrer-Policy': 'strict-origin-when-cross-origin',
	});
});

test("the page speaks the reader's language, by its q-values, and English otherwise", (t) => {
	t.deepEqual(pageLanguages, ['en', 'ar', 'es', 'fr', 'de', 'it', 'pt', 'tr', 'ru', 'zh', 'ja', 'ko']);
	for (const language of pageLanguages) {
		const page = render('ios-browser', {}, `sv, ${language};q=0.8, en;q=0.1`);
		const direction = language === 'ar' ? 'rtl' : 'ltr';
		t.true(page.includes(`<html lang="${language}" dir="${direction}"`), language);
		t.is(anchorsOf(page)[0]?.text, translations[language].onAppStore.replace('{name}', 'Acme'));
		t.regex(anchorsOf(page)[0]?.text ?? '', /App Store/, language);
	}

	for (const [header, language] of [
		['pt-BR,pt;q=0.9', 'pt'],
		['zh-Hans-CN', 'zh'],
		['sv,nb', 'en'],
		['de;q=0.2, fr;q=0.9', 'fr'],
		['*', 'en'],
		['', 'en'],
		['\u0000;;q=x', 'en'],
	] as const) {
		t.true(render('desktop', {}, header).includes(`<html lang="${language}"`), header);
	}
});

test('no language lacks a word, and those with a place for a value have it', (t) => {
	for (const language of pageLanguages) {
		const words = translations[language];
		const found = Object.values(words).every((text) => text.trim() !== '');
		t.true(found, language);
		t.true(words.hint.includes('{browser}') && words.qrAlt.includes('{url}'), language);
	}
});

test('long texts are cut on screen, between characters', (t) => {
	const family = '👨‍👩‍👧‍👦';
	const og = {title: family.repeat(100), description: 'word '.repeat(100), imageUrl: null};
	const page = render('ios-browser', {og});
	t.is(/<h1 dir="auto">(.*?)<\/h1>/.exec(page)?.[1], `${family.repeat(69)}…`);
	t.is(/<p class="about" dir="auto">(.*?)<\/p>/.exec(page)?.[1]?.length, 200);
	const shorter = render('ios-browser', {og: {...og, title: family.repeat(70)}});
	t.true(shorter.includes(`<h1 dir="auto">${family.repeat(70)}</h1>`));
});

test('tenants’ texts are escaped, in the page and in its data block', (t) => {
	const tagsOf = (page: string) => page.match(/<[a-z!/]+/gi);
	const hostile = (text: string): Partial<LinkView> => ({
		og: {title: text, description: text, imageUrl: 'https://img.example.com/1.png'},
		title: text,
		organizationName: `x${text}`,
		path: text,
		params: {[text]: text},
		utm: {utm_source: text, utm_medium: text, utm_campaign: text, utm_term: text, utm_content: text},
	});
	for (const visitorClass of classes) {
		const harmless = tagsOf(render(visitorClass, hostile('y')));
		for (const text of hostileTexts) {
			const page = render(visitorClass, hostile(text));
			t.deepEqual(tagsOf(page), harmless, `${visitorClass} ${text}`);
			t.like(configOf(page), {token: matchToken});
		}

		const texts = fc.string({unit: 'binary', minLength: 1, maxLength: 60});
		const staysText = (text: string) => void t.deepEqual(tagsOf(render(visitorClass, hostile(`y${text}`))), harmless);
		fc.assert(fc.property(texts, staysText), {numRuns: 30});
	}
});

test('the page stays under 20 KB with the longest texts', (t) => {
	const og = {
		title: '漢'.repeat(255),
		description: 'd'.repeat(1024),
		imageUrl: `https://img.example.com/${'i'.repeat(1000)}`,
	};
	for (const visitorClass of classes) {
		t.true(Buffer.byteLength(render(visitorClass)) < 12_000, visitorClass);
		const bytes = Buffer.byteLength(render(visitorClass, {og, params: {a: 'p'.repeat(300)}}, 'ru'));
		t.true(bytes < 20_000, `${visitorClass}: ${bytes}`);
	}
});
