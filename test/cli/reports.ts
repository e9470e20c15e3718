import test from 'ava';
import {link, organization} from '../helpers/builders.ts';
import {admin, anonymous} from '../helpers/callers.ts';
import {serviceOf} from '../helpers/service.ts';
import {ends, runCli, runOnScreen} from './_run-cli.ts';
import {environment} from './_service-cli.ts';

const service = serviceOf(test, {
	LINK_DOMAIN: 'go.links.test',
	LINK_DOMAIN_ALIASES: 'old.links.test',
	ABUSE_CONTACT: 'mailto:abuse@example.com',
});
const cli = (argv: string[]) => runCli(argv, {env: environment(service)});

test('reports are listed at 80 columns, shown and closed, and the audit log names both', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	await anonymous(service).post('/report', {
		link: url,
		reason: 'impersonation',
		details: 'A bank',
		email: 'a@b.example',
	});
	const [{id}] = (await admin(service).get(`/admin/reports?orgId=${acme.id}`)).body.data;
	const screen = await runOnScreen(['reports', 'list', '--org', acme.orgKey], environment(service));
	for (const line of screen.stdout.trimEnd().split('\n')) {
		t.true(line.length <= 80, line);
	}

	t.true(screen.stdout.includes(id), screen.stdout);
	t.regex(screen.stdout, /impersonation/);
	ends(t, await cli(['reports', 'show', id]), 0, {stdout: [/A bank/, /a@b\.example/]});
	ends(t, await cli(['reports', 'close', id, '--note', 'Blocked']), 0, {stdout: `Closed the report of ${url}\n`});
	ends(t, await cli(['reports', 'list', '--org', acme.orgKey]), 0, {stderr: /^Nobody reported|Next: /});
	ends(t, await cli(['reports', 'show', acme.id]), 4);
	ends(t, await cli(['reports', 'close', acme.id]), 4);
});

test('a link is blocked and unblocked by its short URL of any host, its code or its id', async (t) => {
	const acme = await organization(service);
	const {id, url, shortCode} = await link(acme);
	const state = async () => (await acme.server.get(`/links/${id}`)).body.safety?.state;
	const names = [url, url.replace('go.links.test', 'old.links.test'), id, shortCode];
	for (const name of names) {
		ends(t, await cli(['links', 'block', name, '--reason', 'Phishing']), 0, {stdout: `Blocked ${url}\n`});
		t.is(await state(), 'block', name);
		ends(t, await cli(['links', 'unblock', name]), 0, {stdout: `Unblocked ${url}\n`});
		t.is(await state(), undefined, name);
	}

	for (const name of [`${url}x`, 'https://elsewhere.example/Ab12/x', acme.id]) {
		ends(t, await cli(['links', 'block', name]), 4);
	}

	const {body} = await acme.operator.get('/audit-log');
	const found = body.data.find(({action}: {action: string}) => action === 'BLOCK');
	t.like(found, {actor: {type: 'ADMIN_BEARER'}, entityType: 'Link', entityId: id, details: {reason: 'Phishing'}});
});

test('domains aliases lists each alias with its visits', async (t) => {
	ends(t, await cli(['domains', 'aliases']), 0, {
		stdout: /^HOSTNAME +VISITS 30D +LAST VISIT\nold\.links\.test +0 +never\n$/,
	});
	ends(t, await cli(['domains', 'aliases', '--json']), 0, {
		json: {data: [{hostname: 'old.links.test', visits: 0, lastVisitAt: null}]},
	});
});
