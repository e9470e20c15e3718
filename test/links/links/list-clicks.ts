import test from 'ava';
import pg from 'pg';
import {rollUp} from '../../../src/visits/reports/rollups/roll-up.ts';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test);

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

test.serial('a list has the clicks of each link in the last 30 days where it is asked for them', async (t) => {
	const {db} = service.services;
	const [acme, other] = [await organization(service), await organization(service)];
	const [sale, quiet, theirs] = [await link(acme), await link(acme), await link(other)];
	const visit = ({url}: {url: string}, userAgent = FIREFOX) =>
		anonymous(service).get(new URL(url).pathname, {'User-Agent': userAgent});
	await visit(sale);
	await visit(sale);
	await visit(sale, 'Twitterbot/1.0');
	await visit(theirs);
	const lists = [
		[acme.server, '/links'],
		[admin(service), `/admin/organizations/${acme.id}/links`],
	] as const;
	const counted = async () => {
		const answers = await Promise.all(lists.map(([caller, path]) => caller.get(`${path}?clicks=true`)));
		return answers.map(({body}) =>
			Object.fromEntries(body.data.map(({id, clicks}: {id: string; clicks: number}) => [id, clicks])),
		);
	};
	const before = {[quiet.id]: 0, [sale.id]: 2};
	t.deepEqual(await counted(), [before, before]);
	await rollUp(db);
	await visit(quiet);
	const after = {[quiet.id]: 1, [sale.id]: 2};
	t.deepEqual(await counted(), [after, after]);

	const report = await acme.operator.get(`/stats?linkId=${sale.id}&interval=month`);
	t.is(report.body.totals.clicks, 2);
	for (const [caller, path] of lists) {
		const {body} = await caller.get(path);
		t.true(body.data.every((one: object) => !('clicks' in one)));
		t.deepEqual((await caller.get(`${path}?clicks=false`)).body, body);
	}

	t.deepEqual((await acme.server.get('/links?clicks=true&q=nothing-has-this')).body.data, []);
	service.clock.advance(29 * 86_400);
	t.deepEqual(await counted(), [after, after]);
	service.clock.advance(86_400);
	const none = {[quiet.id]: 0, [sale.id]: 0};
	t.deepEqual(await counted(), [none, none]);
});

test.serial('the clicks of a page of links are counted by one statement, however many links it has', async (t) => {
	const acme = await organization(service);
	const {query} = pg.Client.prototype;
	const statements = async () => {
		const seen: string[] = [];
		pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
			seen.push(typeof given[0] === 'string' ? given[0] : String((given[0] as {text?: string}).text));
			return Reflect.apply(query, this, given);
		} as typeof query;
		try {
			await acme.server.get('/links?clicks=true&limit=100');
		} finally {
			pg.Client.prototype.query = query;
		}

		return seen.filter((sql) => sql.includes('rollup_breakdowns')).length;
	};
	await link(acme);
	t.is(await statements(), 1);
	await Promise.all(Array.from({length: 20}, () => link(acme)));
	t.is(await statements(), 1);
});
