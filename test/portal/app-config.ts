import test from 'ava';
import {exampleAppConfig} from '../helpers/builders.ts';
import {member, portalOf} from '../helpers/portal.ts';
import {invalid, noRole, refused, tooLow} from './_refused.ts';

const portal = portalOf(test);

const path = '/portal/app-config';
const stored = {
	...exampleAppConfig,
	fallbackUrl: null,
	og: {title: null, description: null, imageUrl: null},
	probabilisticMatching: true,
	minimumConfidence: 'low',
};

test('there is no configuration until it is set; then a viewer can read it', async (t) => {
	const {organization: acme, caller, user} = await member(portal, {appConfig: null, role: 'developer'});
	const viewer = await member(portal, {organization: acme});
	refused(t, await viewer.caller.get(path), {status: 404, message: 'App configuration not found'});
	const set = await caller.put(path, exampleAppConfig);
	t.deepEqual({status: set.status, body: set.body}, {status: 200, body: stored});
	const read = await viewer.caller.get(path);
	t.deepEqual({status: read.status, body: read.body}, {status: 200, body: stored});

	const {data} = (await (await member(portal, {organization: acme, role: 'admin'})).caller.get('/portal/audit-log'))
		.body;
	const [{action, entityType, actor}] = data.filter(({actor: {type}}: {actor: {type: string}}) => type === 'USER');
	t.deepEqual(
		{action, entityType, actor},
		{action: 'UPDATE', entityType: 'AppConfig', actor: {type: 'USER', id: user.id, name: user.name}},
	);
});

test('writing requires the developer role, and reading any role', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'analyst'});
	refused(t, await caller.put(path, {}), tooLow);
	t.deepEqual((await caller.get(path)).body, stored);
	refused(t, await (await member(portal, {organization: acme, role: null})).caller.get(path), noRole);
});

test('a bad one is 400 with every fault, and changes nothing', async (t) => {
	const {caller} = await member(portal, {role: 'developer'});
	const answer = await caller.put(path, {ios: {teamId: 'x'}, minimumConfidence: 'certain', unknown: 1});
	refused(t, answer, invalid);
	const fields = answer.body.details.map(({field}: {field: string}) => field);
	t.true(
		['minimumConfidence', 'unknown'].every((field) => fields.includes(field)),
		fields.join(),
	);
	t.deepEqual((await caller.get(path)).body, stored);
});
