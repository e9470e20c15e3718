import test from 'ava';
import {exampleAppConfig, organization} from '../helpers/builders.ts';
import {configFolder} from './_config-folder.ts';
import {ends, runCli} from './_run-cli.ts';
import {serviceCli} from './_service-cli.ts';

const {cli, json, service} = serviceCli(test);

test('OPLINK_ORG, orgs use and a bound token name the organization of commands that name none', async (t) => {
	const [acme, other] = await Promise.all([organization(service), organization(service)]);
	const {env, saved} = await configFolder(t);
	const none = ends(t, await cli('channels list', {env}), 2);
	t.regex(none.stderr, /organizations: --org ORG is needed\nNext: .*oplink orgs use ORG or OPLINK_ORG/);
	ends(t, await cli('orgs use', {env}), 0, {stdout: /^None is chosen on/});
	ends(t, await cli('orgs use zzzz', {env}), 4);
	ends(t, await cli(`orgs use ${acme.id}`, {env}), 0, {
		stdout: new RegExp(`that name no organization use .* \\(${acme.orgKey}\\)\n$`),
	});
	t.deepEqual((await saved()).organizations, {[service.url]: acme.orgKey});
	const made = await json('links create --path /a --short-code same', {env});
	t.is(made.organizationId, acme.id);
	t.is(
		(await json('links create --path /b --short-code same', {env: {...env, OPLINK_ORG: other.orgKey}})).organizationId,
		other.id,
	);
	// A code is that of the default organization, an id of whichever has it.
	t.is((await json('links show same', {env})).id, made.id);
	t.is((await json(`links show ${made.id}`, {env: {...env, OPLINK_ORG: other.orgKey}})).id, made.id);
	t.is((await json(`links list --org ${other.orgKey}`, {env})).total, 1);
	ends(t, await cli('orgs use --clear', {env}), 0);
	t.is((await saved()).organizations, undefined);

	const scopes = ['links:write', 'matches:read', 'stats:read'].flatMap((scope) => ['--scope', scope]);
	const {token} = await json(['tokens', 'create', '--name', `ci ${acme.orgKey}`, ...scopes, '--org', acme.orgKey]);
	const bound = {env: {...env, OPLINK_ADMIN_TOKEN: token}};
	t.is((await json('links create --path /c --short-code bound', bound)).organizationId, acme.id);
	t.is((await json('links show same', bound)).id, made.id);
	t.is((await json(`links show ${made.url}`, bound)).id, made.id);
	ends(t, await cli('match list', bound), 0);
	ends(t, await cli('stats --by link', bound), 0);
	ends(t, await cli('channels list', bound), 3, {
		stderr: /lacks the scope channels:read\nRequest id: .*\nNext: An operator .* --scope channels:read\n$/,
	});
});

test('commands of an organization take it by --org as well', async (t) => {
	const acme = await organization(service);
	t.is((await json(`orgs show --org ${acme.orgKey}`)).id, acme.id);
	ends(t, await cli(`orgs show ${acme.orgKey} --org ${acme.orgKey}`), 2, {stderr: /ORG is given twice/});
	ends(t, await cli('orgs show'), 2, {stderr: /Missing argument: <org>/});
});

test('a refused field is named by its option, with the value that was probably meant', async (t) => {
	const {orgKey} = await organization(service);
	for (const [line, words] of [
		['tokens create --name x --scope viewr', /^ {2}--scope viewr must be one of \[.*\]; did you mean viewer\?$/m],
		['tokens create --name x --scope viewer --expires soon', /^ {2}--expires must be a number of hours or days/m],
		[
			`endpoints add https://hooks.example.com/x --event link.created --event match.mised --org ${orgKey}`,
			/^ {2}--event match\.mised must be one of .*; did you mean match\.missed\?$/m,
		],
		[`links create --path /x --og-title ${'x'.repeat(256)} --org ${orgKey}`, /^ {2}--og-title must be shorter/m],
		[`links create --path /x --destination ios=ftp://x --org ${orgKey}`, /^ {2}--destination ios must/m],
		[`links create --path /x --tag ${'y'.repeat(51)} --org ${orgKey}`, /^ {2}--tag y+ must be shorter/m],
		[`channels create ${'z'.repeat(60)} --org ${orgKey}`, /^ {2}NAME must be shorter/m],
		[`plan set GROWT --org ${orgKey}`, /GROWT/],
	] as const) {
		ends(t, await cli(line), 1, {stderr: words});
	}
});

test('app-config example needs no server, and set takes what it prints', async (t) => {
	const {stdout} = ends(t, await runCli('app-config example', {env: {HOME: '/nonexistent'}}), 0, {stderr: ''});
	const {orgKey} = await organization(service, {appConfig: null});
	ends(t, await cli(`app-config set --org ${orgKey} --file -`, {stdin: stdout}), 0);
	t.like(await json(`app-config show ${orgKey}`), exampleAppConfig);
});
