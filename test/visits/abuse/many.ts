import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {until} from '../../helpers/redis-server.ts';
import {importInto} from '../../links/links/_import.ts';
import {BAD, policedService, visit} from './_policed.ts';

const ROWS = 100_000;
const REPORTS = 10_000;
const ABUSE_CONTACT = 'mailto:abuse@example.com';

/** Sends that many at once. */
const inTurns = async (count: number, at: number, one: (index: number) => Promise<unknown>): Promise<void> => {
	for (let from = 0; from < count; from += at) {
		await Promise.all(Array.from({length: Math.min(at, count - from)}, (_, index) => one(from + index)));
	}
};

test('of an import of 100,000 rows those with a listed host fail alone', async (t) => {
	const {service, change} = await policedService(t);
	const acme = await organization(service, {plan: 'SCALE'});
	const isListed = (index: number) => index % 10_000 === 7;
	const rows = Array.from({length: ROWS}, (_, index) => ({
		path: `/${index}`,
		shortCode: `row-${index}`,
		fallbackUrl: isListed(index) ? BAD : `https://shop-${index % 5000}.example/${index}`,
	}));
	const answers = await importInto(acme, rows);
	t.is(answers.length, ROWS);
	t.deepEqual(
		answers.filter(({status}) => status !== 'created').map(({line, status}) => [line, status]),
		rows.flatMap((_, index) => (isListed(index) ? [[index + 1, 'failed']] : [])),
	);
	await change('bad.txt', '||shop-3.example^\n');
	t.is(service.services.abuseFigures.blocked.list, ROWS / 5000);
	const [, , , third] = answers;
	t.is((await visit(service, third?.url ?? '')).status, 410);

	// A list that changes during a check counts from its first link on.
	const checking = change('bad.txt', '||shop-3.example^\n||shop-4.example^\n');
	await until(async () => (await visit(service, answers[4]?.url ?? '')).status === 410);
	await change('bad.txt', '||shop-9.example^\n');
	await checking;
	t.is(service.services.abuseFigures.blocked.list, ROWS / 5000);
	t.is((await visit(service, third?.url ?? '')).status, 200);
});

test('10,000 reports of few addresses are refused beyond the limit, and leave few rows', async (t) => {
	const {service} = await policedService(t, {ABUSE_CONTACT});
	const acme = await organization(service);
	const {url} = await link(acme);
	const statuses: Record<number, number> = {};
	await inTurns(REPORTS, 50, async (index) => {
		const {status} = await anonymous(service, `198.18.${index % 4}.1`).post('/report', {link: url, reason: 'spam'});
		statuses[status] = (statuses[status] ?? 0) + 1;
	});
	t.deepEqual(statuses, {202: 20, 429: REPORTS - 20});
	const {body} = await admin(service).get('/admin/reports');
	t.deepEqual([body.total, body.data.map(({count}: {count: number}) => count)], [4, [5, 5, 5, 5]]);
});

test('10,000 reports of as many networks leave 200 rows for a link and day, and a list that can be read', async (t) => {
	const {service} = await policedService(t, {ABUSE_CONTACT});
	const acme = await organization(service);
	const links = [await link(acme), await link(acme)];
	await inTurns(REPORTS, 50, async (index) => {
		const address = `${11 + Math.floor(index / 50_000)}.${Math.floor(index / 250)}.${index % 250}.1`;
		const {status} = await anonymous(service, address).post('/report', {
			link: links[index % 2]?.url,
			reason: 'phishing',
			details: '<script>alert(1)</script>\u001B[31m'.padEnd(1000, 'x'),
		});
		t.is(status, 202);
	});
	const first = await admin(service).get('/admin/reports?limit=100&page=4');
	t.deepEqual([first.status, first.body.total, first.body.data.length], [200, 400, 100]);
});
