import test from 'ava';
import {reportReasons} from '../../../src/visits/abuse/abuse-report-store.ts';
import {pageLanguages, translations} from '../../../src/visits/page/translations.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {startedFor} from '../../helpers/started.ts';
import {policyOf} from '../abuse/_policed.ts';
import {faintTexts, layoutFaults} from './_looks.ts';
import {startStage, visit} from './_stage.ts';

const stage = startedFor(test, async () => {
	const undone: Array<() => unknown> = [];
	const {file} = await policyOf({teardown: (undo: () => unknown) => void undone.push(undo)});
	const started = await startStage({LINK_POLICY_FILE: file, ABUSE_CONTACT: 'mailto:abuse@example.com'});
	const stop = async () => {
		await started.stop();
		await Promise.all(undone.map((undo) => undo()));
	};
	return {...started, stop};
});

const ODD = `https://www.odd.example/${'a-long-path/'.repeat(12)}?campaign=${'x'.repeat(80)}`;

let acme: TestOrganization;
test.serial.before(async () => {
	acme = await organization(stage.service, {
		name: 'Donaudampfschifffahrtsgesellschaftskapitänsmützen',
		appConfig: {fallbackUrl: 'https://acme.example/'},
	});
});

const screenOf = (width: number) => ({
	viewport: {width, height: 640},
	screen: {width, height: 640},
	javaScriptEnabled: false,
});

for (const width of [320, 390]) {
	test(`in each language warning and form fit into ${width} px without script, and every text stands out`, async (t) => {
		const {url} = await link(acme, {fallbackUrl: ODD});
		const {page, complaints} = await visit(stage, t, url, 'iPhone', screenOf(width));
		for (const [index, language] of pageLanguages.entries()) {
			const words = translations[language];
			// Each reader has an address: forms are limited by it.
			await page.setExtraHTTPHeaders({
				'Accept-Language': `${language}-ZZ,${language};q=0.9`,
				'X-Forwarded-For': `198.18.${width - 300}.${index}`,
			});
			for (const [address, heading] of [
				[url, words.warned],
				[`${stage.url}/report?link=${encodeURIComponent(url)}`, words.heading],
			] as const) {
				await page.goto(address);
				t.is(await page.locator('html').getAttribute('dir'), language === 'ar' ? 'rtl' : 'ltr');
				t.is(await page.getByRole('heading', {level: 1, name: heading}).count(), 1, language);

				t.deepEqual(await layoutFaults(page), [], `${language}: ${heading}`);
				for (const colorScheme of ['light', 'dark'] as const) {
					await page.emulateMedia({colorScheme});
					t.deepEqual(await faintTexts(page), [], `${language}: ${heading}`);
				}
			}
		}

		t.deepEqual(complaints, []);
	});
}

test('the warning is left by the keyboard: to the address as it is written, or to the form', async (t) => {
	const {url} = await link(acme, {fallbackUrl: ODD});
	const {page} = await visit(stage, t, url, 'iPhone', screenOf(320));
	t.true((await page.locator('body').innerText()).includes(ODD));
	const links = page.getByRole('link');
	t.deepEqual(await links.allTextContents(), ['Continue to www.odd.example', 'Report this link']);
	for (const one of await links.all()) {
		await page.keyboard.press('Tab');
		t.true(await one.evaluate((element) => element === document.activeElement));
		t.is(await one.evaluate((element) => getComputedStyle(element).outlineWidth), '3px');
	}

	await page.keyboard.press('Enter');
	await page.waitForURL(/\/report\?/);
	t.is(await page.getByLabel('Link', {exact: true}).inputValue(), url);
});

test('a report is written by the keyboard, each field has its label, and a refusal is announced', async (t) => {
	const {url} = await link(acme);
	const {page} = await visit(stage, t, `${stage.url}/report?link=${encodeURIComponent(url)}`, 'iPhone', screenOf(320));
	const words = translations.en;
	t.is(await page.getByRole('group', {name: words.reason}).getByRole('radio').count(), reportReasons.length);
	const focused = page.locator(':focus');
	const stops = ['link', 'reason', 'details', 'email', null];
	for (const name of stops) {
		await page.keyboard.press('Tab');
		t.is(await focused.getAttribute('name'), name);
		t.is(await focused.evaluate((element) => getComputedStyle(element).outlineWidth), '3px', `${name}`);
	}

	await page.getByLabel(words.details).fill('<script>alert(1)</script>');
	await page.getByLabel(words.email).fill('a@b.example');
	await page.getByLabel(words.spam).press('Space');
	await page.getByLabel(words.link, {exact: true}).press('Enter');
	await page.getByRole('heading', {name: words.thanks}).waitFor();

	const {body} = await admin(stage.service).get(`/admin/reports?orgId=${acme.id}`);
	t.like(body.data[0], {link: url, reason: 'spam', details: '<script>alert(1)</script>', email: 'a@b.example'});

	await page.goto(`${stage.url}/report?link=${encodeURIComponent(url)}`);
	await page.locator('form').evaluate((form) => form.setAttribute('novalidate', ''));
	await page.getByLabel(words.details).fill('kept');
	await page.getByRole('button', {name: words.send}).press('Enter');
	t.is(await page.getByRole('alert').textContent(), words.invalid);
	t.is(await page.getByLabel(words.details).inputValue(), 'kept');
});
