import test from 'ava';
import {pageLanguages, translations} from '../../../src/visits/page/translations.ts';
import {hostileTexts} from '../../fixtures/link-view.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {startedFor} from '../../helpers/started.ts';
import {faintTexts, layoutFaults} from './_looks.ts';
import {people} from './_readers.ts';
import {startStage, visit} from './_stage.ts';

const stage = startedFor(test, () => startStage());

let acme: TestOrganization;
test.serial.before(async () => {
	acme = await organization(stage.service, {name: 'Donaudampfschifffahrtsgesellschaftskapitänsmützen'});
});

const image = 'https://img.example.com/cover.png';
const narrow = {viewport: {width: 320, height: 640}, screen: {width: 320, height: 640}};
const wordy = {
	title: 'Sommerschlussverkaufseröffnungsveranstaltung',
	og: {description: 'https://example.com/a/very/long/word/without/a/space/in/it'.repeat(4), imageUrl: image},
};

const website = {fallbackUrl: 'https://shop.example.com/'};

for (const [reader, body, words] of [
	['iPhoneInApp', website, ['onAppStore', 'copyNote', 'withoutCopying', 'website', 'openInBrowser', 'copyLink']],
	['iPad', website, ['onAppStore', 'copyNote', 'withoutCopying', 'haveApp', 'website']],
	['androidInApp', website, ['onGooglePlay', 'openApp', 'copyNote', 'withoutCopying', 'website', 'copyLink']],
	['desktop', {}, ['scan', 'copyLink']],
] as const) {
	test(`${reader}: in each language everything fits into 320 px and can be tapped`, async (t) => {
		const {url} = await link(acme, {...wordy, ...body});
		const {page} = await visit(stage, t, url, reader, narrow);
		for (const language of pageLanguages) {
			await page.setExtraHTTPHeaders({'Accept-Language': `${language}-ZZ,${language};q=0.9`});
			await page.goto(url);
			const root = page.locator('html');
			t.is(await root.getAttribute('lang'), language);
			t.is(await root.getAttribute('dir'), language === 'ar' ? 'rtl' : 'ltr');
			const seen = await page.locator('body').innerText();
			for (const word of words) {
				t.true(seen.includes(translations[language][word].replace('{name}', acme.name)), `${language}: ${word}`);
			}

			t.deepEqual(await layoutFaults(page), [], language);
		}
	});
}

for (const reader of people) {
	test(`${reader}: every text stands out, in at most 20 KB, and no other host is asked for anything but the picture`, async (t) => {
		const params = Object.fromEntries(Array.from({length: 20}, (_, index) => [`parameter${index}`, 'value'.repeat(4)]));
		const {url} = await link(acme, {...wordy, params});
		const {page, elsewhere, complaints} = await visit(stage, t, url, reader);
		for (const colorScheme of ['light', 'dark'] as const) {
			await page.emulateMedia({colorScheme});
			t.deepEqual(await faintTexts(page), [], colorScheme);
		}

		await page.waitForLoadState('load');
		t.deepEqual(elsewhere, [image]);
		t.deepEqual(complaints, []);
		const {size, own} = await page.evaluate(() => {
			const [document] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
			const names = performance.getEntriesByType('resource').map(({name}) => name);
			return {size: document?.decodedBodySize ?? 0, own: names.filter((name) => name.startsWith(location.origin))};
		});
		t.true(size > 5000 && size <= 20_000, `${size} bytes`);
		t.true(own.every((name) => name.endsWith('/signals')));
	});
}

test('a picture that cannot be had leaves no hole', async (t) => {
	const {url} = await link(acme, {og: {imageUrl: 'https://img.example.com/missing.png'}});
	const {page} = await visit(stage, t, url, 'iPhone');
	await page.locator('figure').waitFor({state: 'hidden'});
	t.true(await page.getByRole('heading').isVisible());
});

test('the focused element is outlined, and the tab order is that of the page', async (t) => {
	const {url} = await link(acme);
	const {page} = await visit(stage, t, url, 'iPhoneInApp');
	const first = `Get ${acme.name} on the App Store`;
	for (const name of [first, 'Continue without copying', 'Open in browser', 'Copy link']) {
		await page.keyboard.press('Tab');
		const focused = page.locator(':focus');
		t.is(await focused.textContent(), name);
		t.is(await focused.evaluate((element) => getComputedStyle(element).outlineWidth), '3px');
	}
});

test('a screen reader finds one heading, named links and buttons, and a live region for results', async (t) => {
	const {url} = await link(acme, {title: 'Summer sale'});
	const {page} = await visit(stage, t, url, 'iPhoneInApp');
	t.is(await page.getByRole('heading', {level: 1, name: 'Summer sale'}).count(), 1);
	t.is(await page.getByRole('status').count(), 1);
	t.is(await page.getByRole('main').count(), 1);
	for (const role of ['link', 'button'] as const) {
		for (const one of await page.getByRole(role).all()) {
			t.truthy(await one.textContent());
		}
	}
});

for (const reader of ['iPhone', 'androidInApp', 'desktop', 'crawler'] as const) {
	test(`${reader}: a text that tries to be more than text stays text, wherever it is shown`, async (t) => {
		const acme = await organization(stage.service, {name: `${reader} ${hostileTexts.join(' ')}`});
		const {page, complaints, destinations} = await visit(stage, t, (await link(acme)).url, reader);
		for (const text of hostileTexts) {
			const {url} = await link(acme, {
				path: `/${text}`,
				title: text,
				og: {title: text, description: text, imageUrl: `https://img.example.com/${encodeURIComponent(text)}?"'><b>`},
				params: {[text]: text, text},
				utmSource: text,
			});
			await page.goto(`${url}?${encodeURIComponent(text)}=${encodeURIComponent(text)}#${text}`);
			t.is((await page.getByRole('heading', {level: 1}).textContent())?.trim(), text.trim());
			// Injected markup would be one of these; it would run, or be blocked and reported by the policy.
			const script = 'body script:not(#config, #config + script)';
			const foreign = page.locator(`svg[onload], img[onerror], [autofocus], b, ${script}`);
			t.is(await foreign.count(), 0);
			t.deepEqual(complaints, []);
			t.deepEqual(destinations, []);
		}
	});
}
