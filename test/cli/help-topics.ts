import test from 'ava';
import type {Command} from 'commander';
import stringWidth from 'string-width';
import {exitCodes} from '../../src/cli/exit-codes.ts';
import {topics} from '../../src/cli/help/topics.ts';
import {createProgram} from '../../src/cli/program.ts';
import {processIo} from '../../src/cli/terminal/io.ts';
import {configTable} from '../../src/config/variables.ts';
import {runCli} from './_run-cli.ts';

const everyCommand = (command: Command): Command[] => [command, ...command.commands.flatMap(everyCommand)];
const wordsOf = (command: Command): string[] => (command.parent ? [...wordsOf(command.parent), command.name()] : []);
const program = createProgram(processIo(new AbortController().signal), () => {});
const callable = everyCommand(program)
	.map(wordsOf)
	.filter((words) => words.length > 0 && !(words.length > 1 && words.at(-1) === 'help'));

for (const {name, summary} of topics) {
	test(`the topic ${name} is listed, prints on stdout and fits 80 columns`, async (t) => {
		const {exitCode, stdout, stderr} = await runCli(['help', name]);
		t.is(exitCode, 0);
		t.is(stderr, '');
		for (const line of stdout.split('\n')) {
			t.true(stringWidth(line) <= 80, line);
		}

		const {stdout: help} = await runCli(['--help']);
		t.true(help.includes(`  help ${name.padEnd(12)} ${summary}\n`));
	});
}

test('the help of every command and group fits 80 columns', async (t) => {
	t.true(callable.length > 40);
	for (const words of [[], ...callable]) {
		const {exitCode, stdout} = await runCli([...words, '--help']);
		t.is(exitCode, 0);
		for (const line of stdout.split('\n')) {
			t.true(stringWidth(line) <= 80, `${words.join(' ')}: ${line}`);
		}
	}
});

test('help WORDS shows what --help of the command shows', async (t) => {
	for (const words of [['orgs'], ['orgs', 'create'], ['links', 'import', 'verify'], ['serve'], []]) {
		const {exitCode, stdout} = await runCli(['help', ...words]);
		t.is(exitCode, 0);
		t.is(stdout, (await runCli([...words, '--help'])).stdout);
	}
});

test('help for an unknown command is a usage error', async (t) => {
	for (const words of [['nothing'], ['orgs', 'nothing'], ['environment', 'PORT']]) {
		const {exitCode, stdout, stderr} = await runCli(['help', ...words]);
		t.is(exitCode, 2);
		t.is(stdout, '');
		t.is(stderr, `Error: There is no command or topic '${words.join(' ')}'\nNext: oplink help shows them\n`);
	}
});

test('the topics list every variable and every exit code', async (t) => {
	const environment = (await runCli(['help', 'environment'])).stdout;
	for (const name of [...configTable.map((variable) => variable.name), 'OPLINK_PROFILE', 'OPLINK_ADMIN_TOKEN']) {
		t.regex(environment, new RegExp(`^  ${name} `, 'm'));
	}

	const codes = (await runCli(['help', 'exit-codes'])).stdout;
	for (const code of Object.values(exitCodes)) {
		t.regex(codes, new RegExp(`^ +${code}  \\w`, 'm'));
	}
});
