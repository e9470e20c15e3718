// Functions that run in the page are written here too; src is built without these names.
/// <reference lib="dom" />
import test from 'ava';
import {routes} from '../../../src/routes.ts';
import {startedFor} from '../../helpers/started.ts';
import {startStage, visit} from './_stage.ts';

const stage = startedFor(test, () => startStage());

for (const reader of ['desktop', 'iPhone'] as const) {
	test(`/docs shows every operation under its own policy and asks no other host, as ${reader}`, async (t) => {
		const {page, elsewhere, complaints} = await visit(stage, t, `${stage.url}/docs`, reader);
		const tags = page.locator('.opblock-tag');
		await tags.first().waitFor();
		// One at a time: of a long list the viewer renders only what is near the screen.
		const shown: string[] = [];
		for (const tag of await tags.all()) {
			await tag.click();
			shown.push(...(await page.locator('.opblock').evaluateAll((all) => all.map(({id}) => id))));
			await tag.click();
		}

		t.is(new Set(shown).size, routes.length);
		t.true(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
		t.deepEqual(elsewhere, []);
		t.deepEqual(complaints, []);
	});
}

test('/docs opens an operation by its address, with its fields, an example and its answers, and a filter', async (t) => {
	const {page, elsewhere, complaints} = await visit(stage, t, `${stage.url}/docs`, 'iPhone');
	await page.locator('.opblock-tag').first().waitFor();
	await page.goto('about:blank');
	await page.goto(`${stage.url}/docs#/Links/postLinks`);
	const operation = page.locator('#operations-Links-postLinks');
	await operation.getByText('deferredDeepLinking').first().waitFor();
	await operation.getByText('402').first().waitFor();
	t.true(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
	t.deepEqual(elsewhere, []);
	t.deepEqual(complaints, []);
	await operation.getByRole('button', {name: 'Try it out'}).tap();
	await operation.getByRole('button', {name: 'Execute'}).tap();
	await operation.locator('.curl').getByText('curl').first().waitFor();
	await page.getByPlaceholder(/Filter/).fill('Webhooks');
	await page.locator('#operations-tag-Webhooks').waitFor();
	await operation.waitFor({state: 'detached'});
	t.true(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
});
