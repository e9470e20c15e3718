import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {ownService} from '../_own.ts';
import {pathOf, userAgents} from '../matches/_phones.ts';

const service = serviceOf(test, {LINK_DOMAIN: 'localhost', ABUSE_CONTACT: 'mailto:abuse@example.com'});

const FORM = {'Content-Type': 'application/x-www-form-urlencoded'};
const form = (fields: Record<string, string>): string => new URLSearchParams(fields).toString();

/** The reports of an organization, newest first. */
const reportsOf = async (id: string, query = 'state=all') =>
	(await admin(service).get(`/admin/reports?orgId=${id}&${query}`)).body.data;

test('a report is taken whether or not the link exists, and counted by link, reason, network and day', async (t) => {
	const acme = await organization(service);
	const {id, url} = await link(acme);
	const report = (address: string, body: object) => anonymous(service, address).post('/report', {link: url, ...body});
	for (const address of ['198.18.7.1', '198.18.7.2', '198.18.8.1']) {
		const answer = await report(address, {
			reason: 'phishing',
			details: '<script>alert(1)</script>',
			email: 'a@b.example',
		});
		t.deepEqual([answer.status, answer.body], [202, {accepted: true}]);
	}

	t.is((await report('198.18.7.3', {reason: 'spam'})).status, 202);
	for (const link of ['https://elsewhere.example/Ab12/x', `${url}x`, 'no URL', 'http://localhost/admin']) {
		t.is((await anonymous(service).post('/report', {link, reason: 'other'})).status, 202, link);
	}

	const reports = await reportsOf(acme.id);
	const found = reports
		.map(({reason, count, linkId, state}: Record<string, unknown>) => [reason, count, linkId, state])
		.toSorted();
	t.deepEqual(found, [
		['phishing', 1, id, 'open'],
		['phishing', 2, id, 'open'],
		['spam', 1, id, 'open'],
	]);
	t.is(reports.find(({reason}: {reason: string}) => reason === 'phishing').details, '<script>alert(1)</script>');
});

test('a report is closed once with a note, which the audit log names', async (t) => {
	const acme = await organization(service);
	const operator = admin(service);
	await anonymous(service).post('/report', {link: (await link(acme)).url, reason: 'malware'});
	const [{id}] = await reportsOf(acme.id, 'state=open');
	t.is((await operator.get(`/admin/reports/${id}`)).body.state, 'open');
	const closed = await operator.post(`/admin/reports/${id}/close`, {note: 'A shop'});
	t.like(closed.body, {id, state: 'closed', note: 'A shop'});
	t.deepEqual(await reportsOf(acme.id, 'state=open'), []);
	t.is((await reportsOf(acme.id, 'state=closed')).length, 1);
	const {body} = await operator.get(`/admin/organizations/${acme.id}/audit-log`);
	const found = body.data.find(({action}: {action: string}) => action === 'CLOSE');
	t.like(found, {entityType: 'Report', entityId: id});
	t.is((await operator.get(`/admin/reports/${acme.id}`)).status, 404);
});

test('the form is a page without script, in the language of the reader, filled in and escaped', async (t) => {
	const caller = anonymous(service);
	const page = await caller.get(`/report?link=${encodeURIComponent('https://go.example/"><b>')}`, {
		'Accept-Language': 'de',
	});
	t.is(page.status, 200);
	t.regex(page.text, /<html lang="de"/);
	t.regex(page.text, /value="https:\/\/go\.example\/&quot;&gt;&lt;b&gt;"/);
	t.notRegex(page.text, /<script/);
	t.regex(String(page.headers['content-security-policy']), /form-action 'self'/);
	t.is((await caller.get('/report', {'Accept-Language': 'ar'})).text.includes('dir="rtl"'), true);

	const sent = await caller.post(
		'/report',
		form({link: 'https://x.example/a', reason: 'spam', details: 'ü & <b>'}),
		FORM,
	);
	t.is(sent.status, 202);
	t.regex(sent.text, /Thank you for your report/);
	const wrong = await caller.post('/report', form({link: '', reason: 'nothing', details: 'ü & <b>'}), FORM);
	t.is(wrong.status, 400);
	t.regex(wrong.text, /role="alert"/);
	t.regex(wrong.text, />ü &amp; &lt;b&gt;<\/textarea>/);
});

test('six reports of an address in an hour: the sixth is 429, invalid ones count, and reading the form does not', async (t) => {
	const caller = anonymous(service);
	for (let sent = 0; sent < 5; sent += 1) {
		t.is((await caller.get('/report')).status, 200);
		t.is((await caller.post('/report', {reason: 'phishing'})).status, 400);
	}

	const refused = await caller.post('/report', {link: 'https://x.example/', reason: 'spam'});
	t.is(refused.status, 429);
	t.regex(refused.body.message, /Retry after \d+ second/);
	const page = await caller.post('/report', form({link: 'https://x.example/', reason: 'spam'}), FORM);
	t.is(page.status, 429);
	t.regex(page.text, /Too many reports/);
});

test('a link has at most 200 rows a day', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	const all = Array.from({length: 210}, (_, n) =>
		anonymous(service, `198.19.${n}.1`).post('/report', {link: url, reason: 'spam'}),
	);
	t.deepEqual([...new Set((await Promise.all(all)).map(({status}) => status))], [202]);
	t.is((await admin(service).get(`/admin/reports?orgId=${acme.id}`)).body.total, 200);
});

test('pages have a link that leads to the form, and every host has security.txt', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	const page = await anonymous(service).get(pathOf(url), {'User-Agent': userAgents.iPhone, Accept: 'text/html'});
	t.true(page.text.includes(`/report?link=${encodeURIComponent(url)}">Report this link</a>`));
	const text = await anonymous(service).get('/.well-known/security.txt');
	t.is(text.status, 200);
	t.is(text.headers['content-type'], 'text/plain; charset=utf-8');
	t.is(text.headers['cache-control'], 'public, max-age=3600');
	t.regex(text.text, /^Contact: mailto:abuse@example\.com$/m);
	t.regex(text.text, /^Expires: \d{4}-\d\d-\d\dT00:00:00\.000Z$/m);
	t.regex(text.text, /^Canonical: http:\/\/127\.0\.0\.1:\d+\/\.well-known\/security\.txt$/m);
	const foreign = await anonymous(service).get('/.well-known/security.txt', {Host: 'foreign.example'});
	t.is(foreign.status, 404);
});

test('without ABUSE_CONTACT there is no form, no link to it and no security.txt', async (t) => {
	const quiet = await ownService(t, {LINK_DOMAIN: 'localhost'});
	const acme = await organization(quiet);
	const {url} = await link(acme);
	const page = await anonymous(quiet).get(pathOf(url), {'User-Agent': userAgents.iPhone, Accept: 'text/html'});
	t.notRegex(page.text, /report/i);
	for (const path of ['/report', '/.well-known/security.txt']) {
		t.is((await anonymous(quiet).get(path)).status, 404, path);
	}

	t.is((await anonymous(quiet).post('/report', {link: url, reason: 'spam'})).status, 404);
});
