import test, {type ExecutionContext} from 'ava';
import {approvedDomain, organization, type TestOrganization} from '../../helpers/builders.ts';
import {anonymous} from '../../helpers/callers.ts';
import {clicked, device, iPhoneApp, network, nothing, open, pathOf, userAgents} from '../matches/_phones.ts';
import {policedService} from './_policed.ts';

type Stage = Awaited<ReturnType<typeof policedService>> & {acme: TestOrganization; linkId: string};

const LATER = 'https://later.example/';

/** The ways in which a link is blocked and freed again. */
const ways: Record<string, Record<'block' | 'free', (stage: Stage) => Promise<unknown>>> = {
	'an operator': {
		block: ({acme, linkId}) => acme.operator.post(`/links/${linkId}/block`),
		free: ({acme, linkId}) => acme.operator.post(`/links/${linkId}/unblock`),
	},
	'a list': {
		block: ({change}) => change('bad.txt', 'later.example\n'),
		free: ({change}) => change('bad.txt', '# nothing\n'),
	},
};

const stageOf = async (t: ExecutionContext) => {
	const {service, change} = await policedService(t);
	const acme = await organization(service);
	const place = network();
	const click = await clicked(service, acme, place(1), {fallbackUrl: LATER});
	const reason = async () => {
		const {body} = await acme.operator.get('/matches');
		return [body.data[0].reason, body.data[0].candidates[0]?.ruledOut];
	};
	return {service, change, acme, linkId: click.link.id, click, place, reason};
};

for (const [by, {block, free}] of Object.entries(ways)) {
	test(`a link that ${by} blocks is matched by no token, which stays unused`, async (t) => {
		const stage = await stageOf(t);
		const {service, click, place, reason} = stage;
		await block(stage);
		for (const field of ['clipboardToken', 'installReferrer']) {
			service.clock.advance(1);
			const answer = await open(service, place(9), {[field]: click.token});
			t.deepEqual([answer.status, answer.body], [200, nothing]);
			t.deepEqual(await reason(), ['blocked', 'blocked']);
		}

		await free(stage);
		t.like((await open(service, place(9), {clipboardToken: click.token})).body, {matched: true, linkId: stage.linkId});
	});

	test(`a link that ${by} blocks is matched by no guess, and not again within the grace`, async (t) => {
		const stage = await stageOf(t);
		const {service, acme, place, reason, click} = stage;
		const key = {clientKey: acme.clientKey};
		const ask = async (fields: object) => (await open(service, place(1), fields, key)).body;
		await block(stage);
		t.deepEqual(await ask(iPhoneApp), nothing);
		t.deepEqual(await reason(), ['blocked', 'blocked']);
		await free(stage);
		const phone = {...device('device-0001'), clipboardToken: click.token};
		t.like(await ask(phone), {matched: true});
		service.clock.advance(5);
		t.like(await ask(phone), {matched: true}, 'the grace');
		await block(stage);
		service.clock.advance(5);
		t.deepEqual(await ask(phone), nothing);
		t.deepEqual(await reason(), ['blocked', 'blocked']);
		t.deepEqual(await ask(device('device-0001')), nothing, 'a guess within the grace');
	});
}

test('signals of the page of a blocked link are taken without effect', async (t) => {
	const stage = await stageOf(t);
	await ways['an operator']?.block(stage);
	const {service, click} = stage;
	const {status} = await anonymous(service).post(`${pathOf(click.link.url)}/signals`, {
		token: click.token,
		timezone: 'Asia/Tokyo',
	});
	t.is(status, 204);
	await service.services.clickJournal.flushed({containing: [stage.acme.id]});
	const [row] = await service.services.db('match_clicks').where({link_id: stage.linkId}).select('timezone');
	t.is(row.timezone, 'America/New_York');
});

test('the root and unknown codes of a domain lead neither to a blocked nor silently to a listed address', async (t) => {
	const {service, change} = await policedService(t);
	const acme = await organization(service, {plan: 'SCALE'});
	await approvedDomain(acme, 'go.moved.example', {
		rootUrl: 'https://later.example/home',
		unknownCodes: {url: 'https://www.later.example/{code}'},
	});
	const get = (path: string, userAgent: string = userAgents.iPhone) =>
		anonymous(service).get(path, {Host: 'go.moved.example', 'User-Agent': userAgent, 'Accept-Language': 'en'});
	t.is((await get('/')).headers['location'], 'https://later.example/home');
	t.regex((await get('/old')).text, /http-equiv="refresh"/);

	await change('odd.txt', 'later.example\n');
	for (const [path, href] of [
		['/', 'https://later.example/home'],
		['/old', 'https://www.later.example/old'],
	] as const) {
		const {status, text} = await get(path);
		t.is(status, 200);
		t.true(text.includes(`rel="nofollow" href="${href}"`), path);
		t.notRegex(text, /http-equiv|<script/);
		const preview = await get(path, 'facebookexternalhit/1.1');
		t.deepEqual([preview.status, preview.headers['x-robots-tag']], [200, 'noindex, nofollow'], path);
		t.notRegex(preview.text, /<title|<meta (?!charset)|later\.example/);
	}

	await change('bad.txt', 'later.example\n');
	const root = await get('/');
	t.deepEqual([root.status, root.body.message], [410, 'Link is blocked']);
	t.is((await get('/old')).status, 404);
});
