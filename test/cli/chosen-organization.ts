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
	const found = (await json('links create --path /b --short-code same', {env: {...env, OPLINK_ORG: other.orgKey}}))
		.organizationId;
	t.is(found, other.id);
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
		stderr: /lacks the scope channels:read\nRequest id: .*\nNext: Create a token .* --scope channels:read\n$/,
	});
});

test('what is unique names its organization if there are several, and what nobody has is 404', async (t) => {
	const [acme, other] = await Promise.all([organization(service), organization(service)]);
	const hostname = `${acme.orgKey.toLowerCase()}.acme.example`;
	const of = `--org ${acme.orgKey}`;
	const endpoint = await json(`endpoints add https://hooks.example.com/x ${of}`);
	const template = await json(`templates create spring ${of}`);
	const channel = await json(`channels create spring ${of}`);
	const domain = await json(`domains add ${hostname} ${of}`);
	const {sdkKey} = await json(`keys show ${of}`);
	for (const line of [
		`endpoints show ${endpoint.id}`,
		`endpoints update ${endpoint.id} --disable`,
		`endpoints rotate ${endpoint.id} --yes`,
		`endpoints deliveries ${endpoint.id}`,
		`endpoints replay ${endpoint.id} --since 2026-03-10T12:00:00Z`,
		`templates show ${template.id}`,
		`templates update ${template.id} --name summer`,
		`channels update ${channel.id} --name summer`,
		`domains show ${hostname.toUpperCase()}`,
		`domains show ${domain.id}`,
		`domains unknown ${hostname}`,
		`domains approve ${hostname}`,
		`domains remove ${domain.id} --yes`,
		`keys revoke ${sdkKey.displayKey} --yes`,
		`endpoints delete ${endpoint.id} --yes`,
		`templates delete ${template.id} --yes`,
		`channels delete ${channel.id} --yes`,
	]) {
		ends(t, await cli(line), 0);
	}

	for (const [line, name] of [
		[`endpoints test ${endpoint.id}`, endpoint.id],
		[`templates show ${template.id}`, template.id],
		[`domains default ${hostname}`, hostname],
		['keys revoke opl_sdk_nobodyxx_whole --yes', 'opl_sdk_nobodyxx'],
	]) {
		ends(t, await cli(line), 4, {stderr: new RegExp(`^Error: No organization has '${name}'\n.*Next: `, 's')});
	}

	// A name that several may have, and ids that apps give, need one.
	ends(t, await cli('templates show summer'), 2, {stderr: /--org ORG is needed/});
	ends(t, await cli(`devices show ${template.id}`), 2, {stderr: /--org ORG is needed/});
	await Promise.all([acme, other].map(({orgKey}) => json(`domains add ${hostname} --org ${orgKey}`)));
	const both = `\\b(?:${acme.orgKey}, ${other.orgKey}|${other.orgKey}, ${acme.orgKey})\n$`;
	ends(t, await cli(`domains verify ${hostname}`), 2, {stderr: new RegExp(both)});
	// The named organization is the one that counts.
	ends(t, await cli(`domains show ${hostname}`, {env: {OPLINK_ORG: other.orgKey}}), 0);
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
