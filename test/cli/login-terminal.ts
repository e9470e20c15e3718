import {stripVTControlCharacters} from 'node:util';
import anyTest from 'ava';
import {configFolder} from './_config-folder.ts';
import {hasPty, runOnTerminal} from './_pty.ts';
import {pageOf, startRecordingServer} from './_recording-server.ts';

// The streams of a real terminal, where there is what makes one; login.ts has the same on streams that act like it.
const test = hasPty ? anyTest : anyTest.skip;

const TOKEN = 'token-of-the-operator';

test('on a real terminal the token is not on the screen, and the terminal is as it was', async (t) => {
	const {url} = await startRecordingServer(t, {'GET /admin/status': () => ({body: {version: '1.2.3'}})});
	const {env, saved} = await configFolder(t);
	const {screen, exitCode, before, after} = await runOnTerminal(t, ['login'], {
		env,
		answers: [
			['Server [', `${url}\r`],
			['Admin token', `${TOKEN}\r`],
		],
	});
	t.is(exitCode, 0);
	t.true(screen.includes(`Logged in to ${url}`));
	t.false(screen.includes(TOKEN));
	t.is(after, before);
	t.is((await saved()).profiles.default.token, TOKEN);
});

for (const [question, argv, answers] of [
	['the address', ['login'], [['Server [', 'http://x\u0003']]],
	['the token', ['login', '--url', 'http://localhost:1'], [['Admin token', 'abc\u0003']]],
	['yes or no', ['orgs', 'delete', 'Ab12'], [['[y/N]', '\u0003']]],
] as const) {
	test(`Ctrl-C at the prompt for ${question} ends with 130 and restores the terminal`, async (t) => {
		const {env} = await configFolder(t);
		const server = await startRecordingServer(t, {
			'GET /admin/organizations/Ab12': () => ({body: {orgKey: 'Ab12', name: 'Acme', createdAt: '2026-01-31'}}),
			'GET /admin/organizations/Ab12/links': () => ({body: pageOf([])}),
			'GET /admin/organizations/Ab12/stats': () => ({body: {totals: {clicks: 0}}}),
		});
		const {screen, exitCode, before, after} = await runOnTerminal(t, [...argv], {
			env: argv[0] === 'login' ? {...env, OPLINK_ADMIN_TOKEN: ''} : {...env, ...server.env},
			answers: answers.map(([shown, keys]) => [shown, keys]),
		});
		t.is(exitCode, 130);
		t.regex(stripVTControlCharacters(screen), /Interrupted\r?\n$/);
		t.is(after, before);
	});
}
