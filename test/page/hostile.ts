import test from 'ava';
import {hostileTexts} from '../fixtures/link-view.ts';
import {link, organization} from '../helpers/builders.ts';
import {startedFor} from '../helpers/started.ts';
import {startStage, visit} from './_stage.ts';

const stage = startedFor(test, () => startStage());

const readers = ['iPhone', 'androidInApp', 'desktop', 'crawler'] as const;

for (const reader of readers) {
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
			const foreign = page.locator('svg[onload], img[onerror], [autofocus], b, body script:not([nonce], #config)');
			t.is(await foreign.count(), 0);
			t.deepEqual(complaints, []);
			t.deepEqual(destinations, []);
		}
	});
}

test('a text in the link to the app stays within it', async (t) => {
	const text = 'x;package=com.evil;S.browser_fallback_url=https%3A%2F%2Fevil.example.com;end#Intent;scheme=javascript';
	const {url} = await link(await organization(stage.service), {path: `/${text}`, params: {a: text}});
	const {page, destinations} = await visit(stage, t, url, 'android');
	await page.getByRole('link', {name: 'Open in the app'}).tap();
	await page.getByText('Code copied').waitFor();
	const [fields = '', ...others] = (destinations[0] ?? '').split('#Intent;').slice(1);
	t.deepEqual(others, []);
	t.deepEqual(
		fields.split(';').map((field) => field.split('=')[0]),
		['scheme', 'package', 'S.browser_fallback_url', 'end'],
	);
	t.regex(fields, /^scheme=acmeshop;package=com\.acme\.shop;/);
});

test('script that got into the page after all is refused by its policy', async (t) => {
	const {url} = await link(await organization(stage.service));
	const {page, complaints, elsewhere} = await visit(stage, t, url, 'iPhone');
	await page.evaluate(() => {
		const script = document.createElement('script');
		script.textContent = 'document.title = "taken over"';
		const frame = document.createElement('iframe');
		frame.src = 'https://evil.example.com/';
		const button = document.createElement('div');
		button.innerHTML = `<button id="in" onclick="document.title = 'taken over'" style="color: red">x</button>`;
		document.body.append(script, frame, button);
		document.querySelector<HTMLElement>('#in')?.click();
		return fetch('https://evil.example.com/').catch(() => {});
	});
	t.not(await page.title(), 'taken over');
	for (const refusal of [
		/^Executing inline script violates .* 'script-src/,
		/^Executing inline event handler violates .* 'script-src/,
		/^Applying inline style violates .* 'style-src/,
		/^Framing .* violates .* "default-src 'none'"/,
		/^Connecting to .* violates .* "connect-src 'self'"/,
	]) {
		t.true(
			complaints.some((complaint) => refusal.test(complaint)),
			`${refusal} in ${complaints.join('; ')}`,
		);
	}

	t.deepEqual(elsewhere, []);
});
