import test, {type ExecutionContext} from 'ava';
import stringWidth from 'string-width';
import {exitCodes} from '../../src/cli/cli-errors.ts';
import {topics} from '../../src/cli/help.ts';
import {commands, createProgram} from '../../src/cli/program.ts';
import {processIo} from '../../src/cli/terminal/io.ts';
import {configTable} from '../../src/platform/config/variables.ts';
import {ends, runCli} from './_run-cli.ts';

/** Every command with the words that call it. */
const everyCommand = commands.flatMap((entry) =>
	'commands' in entry
		? entry.commands.map((spec) => ({words: [entry.name, spec.usage.split(' ')[0] ?? ''], spec}))
		: [entry, ...(entry.subcommands ?? [])].map((spec) => ({
				words: [...new Set([entry, spec])].map(({usage}) => usage.split(' ')[0] ?? ''),
				spec,
			})),
);

test('oplink alone prints help on stdout and succeeds', async (t) => {
	ends(t, await runCli([]), 0, {stdout: [/^Usage: oplink/, /^Links:\n {2}links +Manage links/m], stderr: ''});
});

test('a summary is verb and object, and fits beside its name; whatever else there is to say is a paragraph', (t) => {
	const groups = commands.filter((entry) => 'commands' in entry);
	for (const {summary, about = ''} of [...everyCommand.map(({spec}) => spec), ...groups]) {
		t.regex(summary, /^[A-Z][a-z]+,? [^;:.]{3,56}$/);
		t.regex(about, /^(?:.+\.)?$/s, summary);
	}
});

test('every command of the specification is there', (t) => {
	const groups = new Map<string, string[]>();
	for (const {words} of everyCommand) {
		const [first = '', ...second] = words;
		groups.set(first, [...(groups.get(first) ?? []), ...second]);
	}

	t.deepEqual(
		[...groups].map((group) => group.flat().join(' ')),
		[
			'links create list show update delete block unblock import export',
			'qr export',
			'channels list create update delete',
			'templates list show create update delete',
			'domains list show set unknown aliases add verify approve reject default remove',
			'reports list show close',
			'orgs list create use show update suspend activate delete',
			'plan list set',
			'keys show revoke regenerate',
			'app-config show example set',
			'app check status kit',
			'apply',
			'stats funnel',
			'dashboard',
			'match explain list simulate',
			'events list',
			'devices list show',
			'endpoints list show add update delete test rotate deliveries replay',
			'export clicks events matches',
			'audit',
			'privacy export erase',
			'billing events show replay',
			'webhooks list show replay',
			'serve',
			'migrate up down status',
			'clicks migrate',
			'backup check',
			'restore',
			'config',
			'status',
			'tokens create list revoke',
			'doctor',
			'login',
			'logout',
			'profiles list use remove',
			'completion',
		],
	);
});

const fits = (t: ExecutionContext, text: string): void =>
	void t.true(Math.max(...text.split('\n').map((line) => stringWidth(line))) <= 80, text);

for (const {words, spec} of everyCommand) {
	const name = words.join(' ');
	test(`the help of ${name} fits 80 columns, says in one line what it does and shows one or two examples that call it`, async (t) => {
		const {stdout} = ends(t, await runCli([...words, '--help']), 0);
		fits(t, stdout);
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

test('no command has an option by the name of one of all commands', (t) => {
	const global = createProgram(processIo(new AbortController().signal)).options.map(({long}) => long);
	t.true(global.includes('--url'));
	t.deepEqual(
		everyCommand.flatMap(({words, spec}) =>
			(spec.options ?? []).filter(({long}) => global.includes(long)).map(({long}) => [...words, long].join(' ')),
		),
		[],
	);
});

test('an unknown command is a usage error with a suggestion', async (t) => {
	ends(t, await runCli('link list'), 2, {
		stdout: '',
		stderr: /^Error: unknown command 'link'\n\(Did you mean links\?\)/,
	});
});

test('a group without a command shows its help on stderr as a usage error', async (t) => {
	ends(t, await runCli('orgs'), 2, {stdout: '', stderr: /^Usage: oplink orgs/});
});

test('a faulty option or argument is a usage error that points to the help', async (t) => {
	for (const line of [
		'orgs list --nope',
		'orgs show',
		'orgs show Ab12 Cd34',
		'orgs create',
		'orgs list --page two',
		'links list --active --inactive',
	]) {
		ends(t, await runCli(line), 2, {stdout: '', stderr: [/^Error: /, /Next: add --help/]});
	}
});

test('--version prints the version of the package', async (t) => {
	ends(t, await runCli('--version'), 0, {stdout: /^\d+\.\d+\.\d+\n$/});
});

for (const {name, summary} of topics) {
	test(`the topic ${name} is listed, prints on stdout and fits 80 columns`, async (t) => {
		const {stdout} = ends(t, await runCli(['help', name]), 0, {stderr: ''});
		fits(t, stdout);
		const {stdout: help} = await runCli('--help');
		t.true(help.includes(`  help ${name.padEnd(12)} ${summary}\n`));
	});
}

test('the help of the program, of every group and of commands within commands fits 80 columns', async (t) => {
	const groups = commands.flatMap((entry) => ('commands' in entry ? [[entry.name]] : []));
	t.true(groups.length > 15);
	const nested = everyCommand.flatMap(({words, spec}) =>
		(spec.subcommands ?? []).map(({usage}) => [...words, usage.split(' ')[0] ?? '']),
	);
	t.true(nested.length > 1);
	for (const words of [[], ['help'], ...groups, ...nested]) {
		fits(t, ends(t, await runCli([...words, '--help']), 0).stdout);
	}
});

test('help WORDS shows what --help of the command shows', async (t) => {
	for (const words of [['orgs'], ['orgs', 'create'], ['links', 'import', 'verify'], ['serve'], []]) {
		ends(t, await runCli(['help', ...words]), 0, {stdout: (await runCli([...words, '--help'])).stdout});
	}
});

test('help for an unknown command is a usage error', async (t) => {
	for (const words of [['nothing'], ['orgs', 'nothing'], ['environment', 'PORT']]) {
		ends(t, await runCli(['help', ...words]), 2, {
			stdout: '',
			stderr: `Error: There is no command or topic '${words.join(' ')}'\nNext: oplink help shows them\n`,
		});
	}
});

test('the topics list every variable and every exit code', async (t) => {
	const environment = (await runCli('help environment')).stdout;
	for (const name of [...configTable.map((variable) => variable.name), 'OPLINK_PROFILE', 'OPLINK_ADMIN_TOKEN']) {
		t.regex(environment, new RegExp(`^  ${name} `, 'm'));
	}

	const codes = (await runCli('help exit-codes')).stdout;
	for (const code of Object.values(exitCodes)) {
		t.regex(codes, new RegExp(`^ +${code}  \\w`, 'm'));
	}
});
