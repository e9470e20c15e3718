import test from 'ava';
import {commands} from '../../src/cli/program.ts';
import {runCli} from './_run-cli.ts';

/** Every command with the words that call it. */
const everyCommand = commands.flatMap((entry) =>
	'commands' in entry
		? entry.commands.map((spec) => ({words: [entry.name, spec.usage.split(' ')[0] ?? ''], spec}))
		: [{words: [entry.usage.split(' ')[0] ?? ''], spec: entry}],
);

test('oplink alone prints help on stdout and succeeds', async (t) => {
	const {exitCode, stdout, stderr} = await runCli([]);
	t.is(exitCode, 0);
	t.regex(stdout, /^Usage: oplink/);
	t.is(stderr, '');
});

test('every command of the specification is there', (t) => {
	t.deepEqual(
		everyCommand.map(({words}) => words.join(' ')),
		[
			'serve',
			'migrate up',
			'migrate down',
			'migrate status',
			'backup',
			'restore',
			'config',
			'status',
			'doctor',
			'login',
			'logout',
			'profiles list',
			'profiles use',
			'profiles remove',
			'orgs list',
			'orgs create',
			'orgs show',
			'orgs update',
			'orgs suspend',
			'orgs activate',
			'orgs delete',
			'plan set',
			'keys show',
			'keys regenerate',
			'app-config show',
			'app-config set',
			'links create',
			'links list',
			'links show',
			'links update',
			'links delete',
			'links import',
			'links export',
			'qr export',
			'domains list',
			'domains add',
			'domains verify',
			'domains approve',
			'domains reject',
			'domains default',
			'domains remove',
			'stats',
			'dashboard',
			'match explain',
			'match list',
			'match simulate',
			'audit',
			'privacy export',
			'privacy erase',
			'billing events',
			'billing show',
			'billing replay',
			'webhooks list',
			'webhooks show',
			'webhooks replay',
			'completion',
		],
	);
});

for (const {words, spec} of everyCommand) {
	const name = words.join(' ');
	test(`the help of ${name} says in one line what it does and shows one or two examples that call it`, async (t) => {
		const {exitCode, stdout} = await runCli([...words, '--help']);
		t.is(exitCode, 0);
		t.false(spec.summary.includes('\n'));
		t.true(stdout.replace(/\s+/g, ' ').includes(spec.summary));
		t.true(stdout.includes('--json'));
		t.true(spec.examples.length === 1 || spec.examples.length === 2);
		// A long example goes on in the next line.
		const unfolded = stdout.replaceAll(/ \\\n +/g, ' ');
		for (const example of spec.examples) {
			t.true(unfolded.includes(`$ oplink ${words.length > 1 ? `${words[0]} ` : ''}${example}`));
			t.is(example.split(' ')[0], words.at(-1));
		}
	});
}

test('an unknown command is a usage error with a suggestion', async (t) => {
	const {exitCode, stdout, stderr} = await runCli(['link', 'list']);
	t.is(exitCode, 2);
	t.is(stdout, '');
	t.regex(stderr, /^Error: unknown command 'link'\n\(Did you mean links\?\)/);
});

test('a group without a command shows its help on stderr as a usage error', async (t) => {
	const {exitCode, stdout, stderr} = await runCli(['orgs']);
	t.is(exitCode, 2);
	t.is(stdout, '');
	t.regex(stderr, /^Usage: oplink orgs/);
});

for (const [what, argv] of [
	['an unknown option', ['orgs', 'list', '--nope']],
	['a missing argument', ['orgs', 'show']],
	['an argument too many', ['orgs', 'show', 'Ab12', 'Cd34']],
	['a missing option', ['orgs', 'create']],
	['a word where a number belongs', ['orgs', 'list', '--page', 'two']],
	['options that exclude each other', ['links', 'list', '--active', '--inactive']],
] as const) {
	test(`${what} is a usage error that points to the help`, async (t) => {
		const {exitCode, stdout, stderr} = await runCli([...argv]);
		t.is(exitCode, 2);
		t.is(stdout, '');
		t.regex(stderr, /^Error: /);
		t.regex(stderr, /Next: add --help/);
	});
}

test('--version prints the version of the package', async (t) => {
	const {exitCode, stdout} = await runCli(['--version']);
	t.is(exitCode, 0);
	t.regex(stdout, /^\d+\.\d+\.\d+\n$/);
});
