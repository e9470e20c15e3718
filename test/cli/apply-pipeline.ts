import {readFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {packageRoot} from '../../src/platform/package-root.ts';
import {startProvider, withFile} from '../accounts/tokens/_provider.ts';
import {organization} from '../helpers/builders.ts';
import {createFakeClock, startService} from '../helpers/service.ts';
import {startedFor} from '../helpers/started.ts';
import {doc, yamlOf} from './_apply.ts';
import {ends, runCli} from './_run-cli.ts';

const clock = createFakeClock();
const provider = startedFor(test, () => startProvider(clock));

test('the rules of docs/operators.md let a pull request check and a merge apply, and nothing more', async (t) => {
	const page = await readFile(path.join(packageRoot, 'docs/operators.md'), 'utf8');
	const [, text = ''] =
		/"rules": (\[\n {2}\{"claims": \{"repository_owner_id": "42", "sub": "repo:acme\/links[\s\S]*?\n\])/.exec(page) ??
		[];
	const rules = JSON.parse(text) as object[];
	const service = await withFile([{issuer: provider.issuer, audience: 'oplink', rules}], (file) =>
		startService({OPERATOR_OIDC_FILE: file}, clock),
	);
	t.teardown(() => service.stop());
	const {id} = await organization(service);
	await service.services.db('organizations').where({id}).update({org_key: 'Ab12'});
	const claims = {repository_owner_id: '42'};
	const as = async (sub: string) => ({
		OPLINK_URL: service.url,
		OPLINK_ADMIN_TOKEN: await provider.token({...claims, sub: `repo:acme/links:${sub}`}),
	});
	const stdin = yamlOf([
		doc('Channel', 'fax'),
		doc('Template', 'Sale', {path: '/sale', channel: 'fax'}),
		doc('Link', 'spring', {template: 'Sale'}),
		doc('Endpoint', 'https://hooks.example.com/oplink', {events: ['*']}),
	]);
	const [check, merge] = [await as('pull_request'), await as('ref:refs/heads/main')];
	ends(t, await runCli('apply - --org Ab12 --check', {env: check, stdin}), 1, {stdout: /4 to create/});
	ends(t, await runCli('apply - --org Ab12', {env: check, stdin}), 3, {stderr: /channels:write[\s\S]*0 of 4 applied/});
	ends(t, await runCli('apply -', {env: merge, stdin}), 0, {stdout: /4 created/});
	ends(t, await runCli('apply - --check', {env: check, stdin}), 0, {stdout: /4 unchanged/});
	const moderated = yamlOf([doc('Organization', 'Ab12', {plan: 'SCALE'})]);
	ends(t, await runCli('apply -', {env: merge, stdin: moderated}), 3, {stderr: /moderation/});
	ends(t, await runCli('apply -', {env: await as('ref:refs/heads/other'), stdin}), 3);
});
