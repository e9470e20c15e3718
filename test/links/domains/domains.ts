import test from 'ava';
import {newDomain} from '../../../src/links/domains/domain.ts';
import {link} from '../../helpers/builders.ts';
import {actionsOn, atOnce, badFields, fieldsOf} from '../_answers.ts';
import {domainStage, freshHost} from './_domains.ts';

const {setup, statusOn} = domainStage(test);

test('the shared domain is listed as the default, and an added one PENDING with the record that proves it', async (t) => {
	const {base, operator} = await setup();
	const before = await operator.get(base);
	t.is(before.status, 200);
	t.like(before.body, {total: 1, page: 1, limit: 20});
	const [{id, createdAt, ...shared}] = before.body.data;
	t.deepEqual(shared, {hostname: 'go.oplink.test:8443', status: 'VERIFIED', isDefault: true, verification: null});
	t.is((await (await setup()).shared()).id, id);
	t.is(typeof createdAt, 'string');

	const hostname = freshHost();
	const {status, body} = await operator.post(base, {hostname: `${hostname.toUpperCase()}.`});
	t.is(status, 201);
	t.deepEqual(Object.keys(body), ['id', 'hostname', 'status', 'isDefault', 'verification', 'createdAt']);
	t.like(body, {hostname, status: 'PENDING', isDefault: false});
	t.like(body.verification, {type: 'TXT', name: `_oplink.${hostname}`});
	t.regex(body.verification.value, /^oplink-verification=\w{32}$/);
	t.deepEqual((await operator.get(base)).body.data[0], body);
});

test('a hostname is refused unless it is a public name that is not of the service itself', async (t) => {
	const {base, operator} = await setup();
	for (const hostname of [
		...[undefined, 7, '', 'acme', 'co.uk', 'go.acme.nosuchsuffix', '192.0.2.1', '0x7f.1', '[2001:db8::1]'],
		...['localhost', 'acme.localhost', 'https://go.acme.test', 'go.acme.test:8443', 'go.acme.test/path'],
		...['*.acme.test', '-go.acme.test', 'go_1.acme.test', 'go..acme.test'],
		...[`${'a'.repeat(64)}.acme.test`, `${'a.'.repeat(119)}acme.test`],
	]) {
		t.deepEqual(badFields(newDomain, {hostname}), ['hostname'], String(hostname));
	}

	for (const hostname of ['acme', 'go.oplink.test', 'API.oplink.test']) {
		const {status, body} = await operator.post(base, {hostname});
		t.is(status, 400);
		t.deepEqual(fieldsOf(body), ['hostname']);
	}

	t.is((await operator.post(base, {hostname: 'Grün.acme.test'})).body.hostname, 'xn--grn-ioa.acme.test');
});

test('the plan decides whether custom domains are allowed, and how many', async (t) => {
	const hostname = 'plans.acme.test';
	const organizations = {none: await setup(null), solo: await setup('SOLO'), growth: await setup('GROWTH')};
	for (const [name, asked, expected] of [
		['none', hostname, {statusCode: 402, code: 'PLAN_NOT_SELECTED'}],
		['solo', hostname, {statusCode: 403, code: 'FEATURE_NOT_AVAILABLE', feature: 'custom_domains'}],
		['growth', hostname, {hostname}],
		['growth', hostname, {statusCode: 409, message: `Domain '${hostname}' is already in use`}],
		['growth', freshHost(), {statusCode: 402, code: 'QUOTA_EXCEEDED', quota: 'domains'}],
	] as const) {
		const {base, operator} = organizations[name];
		t.like((await operator.post(base, {hostname: asked})).body, expected);
	}
});

test('parallel adds never exceed the quota', async (t) => {
	const {base, operator} = await setup('GROWTH');
	const statuses = await atOnce(6, () => operator.post(base, {hostname: freshHost()}));
	t.deepEqual(statuses, [201, 402, 402, 402, 402, 402]);
	t.is((await operator.get(base)).body.total, 2);
});

test('the same hostname twice is 409, also in parallel, and two organizations may try for one until one has it', async (t) => {
	const {base, operator} = await setup();
	const hostname = freshHost();
	t.deepEqual(await atOnce(4, () => operator.post(base, {hostname})), [201, 409, 409, 409]);
	await (await setup()).approved(hostname);
	const third = await setup();
	const {status, body} = await third.operator.post(third.base, {hostname});
	t.is(status, 409);
	t.is(body.message, `Domain '${hostname}' is already in use`);
});

test('only a verified domain becomes the default of new links, and the shared one can again', async (t) => {
	const {org, add, act, shared} = await setup();
	const {id, hostname} = await add();
	for (const action of ['reject', 'approve']) {
		t.is((await act(id, 'default')).status, 409);
		await act(id, action);
	}

	t.is((await shared()).isDefault, true);
	const made = await act(id, 'default');
	t.is(made.status, 200);
	t.like(made.body, {id, isDefault: true});
	t.is((await shared()).isDefault, false);
	const first = await link(org);
	t.is(first['domainId'], id);
	t.true(first.url.startsWith(`https://${hostname}/${org.orgKey}/`));

	const common = await shared();
	const back = await act(common.id, 'default');
	t.like(back.body, {id: common.id, isDefault: true, verification: null});
	t.is((await link(org))['domainId'], common.id);
});

test('without its default domain an organization falls back to the shared one', async (t) => {
	const {org, base, operator, approved, act, shared} = await setup();
	const common = await shared();
	for (const end of [(id: string) => act(id, 'reject'), (id: string) => operator.delete(`${base}/${id}`)]) {
		const {id} = await approved();
		await act(id, 'default');
		t.is((await shared()).isDefault, false);
		t.is((await end(id)).status, 200);
		t.is((await shared()).isDefault, true);
		t.is((await link(org)).domainId, common.id);
	}
});

test('the links of a deleted domain move to the shared one, also those that are created meanwhile', async (t) => {
	const {org, base, operator, approved, shared} = await setup();
	const {id} = await approved();
	const {shortCode} = await link(org, {domainId: id});
	const [deleted, ...created] = await Promise.all([
		operator.delete(`${base}/${id}`),
		...Array.from({length: 12}, () => org.server.post('/links', {path: '/x', domainId: id})),
	]);
	t.is(deleted.status, 200);
	t.deepEqual(deleted.body, {id, deleted: true});
	t.true(created.every(({status}) => status === 201 || status === 404));
	const {body} = await org.server.get('/links?limit=100');
	t.is(body.total, 1 + created.filter(({status}) => status === 201).length);
	const common = await shared();
	t.true(body.data.every(({domainId}: {domainId: string}) => domainId === common.id));
	t.true(body.data.some(({url}: {url: string}) => url === `https://go.oplink.test:8443/${org.orgKey}/${shortCode}`));
	t.is(await statusOn('go.oplink.test', `/${org.orgKey}/${shortCode}`), 200);
	t.is((await operator.delete(`${base}/${id}`)).status, 404);
});

test("the shared domain and another organization's cannot be verified, approved, rejected or deleted", async (t) => {
	const {base, operator, act, shared} = await setup();
	const theirs = await (await setup()).add();
	for (const id of [(await shared()).id, theirs.id]) {
		for (const action of ['verify', 'approve', 'reject']) {
			t.is((await act(id, action)).status, 404);
		}

		t.is((await operator.delete(`${base}/${id}`)).status, 404);
	}

	t.is((await act(theirs.id, 'default')).status, 404);
	t.is((await shared()).status, 'VERIFIED');
});

test('each step of a domain is audited once', async (t) => {
	const {org, base, operator, add, act} = await setup();
	const {id} = await add();
	for (const action of ['verify', 'approve', 'approve', 'default', 'default', 'reject', 'reject', 'verify']) {
		await act(id, action);
	}

	await operator.delete(`${base}/${id}`);
	const actions = await actionsOn(org, 'Domain');
	t.deepEqual(actions, ['APPROVE', 'CREATE', 'DELETE', 'REJECT', 'SET_DEFAULT']);
});
