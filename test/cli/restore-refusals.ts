import {createHash, randomUUID} from 'node:crypto';
import {mkdir, readdir} from 'node:fs/promises';
import path from 'node:path';
import {Readable} from 'node:stream';
import {gunzipSync, gzipSync} from 'node:zlib';
import test from 'ava';
import {createArchiveWriter} from '../../src/operations/backup/archive-format.ts';
import {isDeep} from '../helpers/deep.ts';
import {folderOf} from '../helpers/folder.ts';
import {startedFor} from '../helpers/started.ts';
import {backedUp, startTarget} from './_backup.ts';
import {contents} from './_contents.ts';
import {ends, runCli} from './_run-cli.ts';

const given = backedUp(test);

/** One for all: whatever is refused changes nothing. */
const target = startedFor(test, async () => {
	const started = await startTarget();
	return {...started, before: await contents(started.db)};
});

/** A backup that is whole by its checksums, with these rows in a table in place of its own. */
const forged =
	(table: string, rows: (own: string[]) => Iterable<string>) =>
	(whole: Buffer): Buffer => {
		const archive = createArchiveWriter();
		let own: string[] = [];
		let text = '';
		for (const line of gunzipSync(whole).toString().trimEnd().split('\n')) {
			const [word, first, second] = line.startsWith('[') ? JSON.parse(line) : [''];
			if (word === 'oplink backup') {
				text += archive.head(second);
			} else if (word === 'table') {
				own = [];
				text += archive.table(first, second);
			} else if (word === 'end of table') {
				text += archive.rows(first === table ? [...rows(own)] : own) + archive.endOfTable();
			} else if (word === '') {
				own.push(line);
			}
		}

		return gzipSync(text + archive.end());
	};

const lineOf = (text: string, word: string): string => text.split('\n').find((line) => line.includes(word)) ?? '';

/** A backup with its text changed. */
const edited =
	(change: (text: string) => string) =>
	(whole: Buffer): Buffer =>
		gzipSync(change(gunzipSync(whole).toString()));

const noRows = `["end of table","clicks",{"rows":0,"sha256":"${createHash('sha256').digest('hex')}"}]`;

for (const [what, spoil, message] of [
	['cut off', (whole: Buffer) => whole.subarray(0, whole.length - 40), 'is incomplete'],
	['without its last line', edited((text) => text.replace(/\["end of backup".*\n/, '')), 'is incomplete'],
	['with a title changed', edited((text) => text.replace('/item/7', '/item/8')), 'the table'],
	['with a row less', edited((text) => text.replace(`${lineOf(text, '"/item/7"')}\n`, '')), 'the table'],
	['with a value that is none', edited((text) => text.replace(/"link_id":"/g, '"link_id":"x')), 'damaged'],
	['with something behind its end', edited((text) => `${text}["table","links",[]]\n`), 'damaged'],
	[
		// In the checksum of the compressed data. Elsewhere a turned byte may read as another column, which is refused as such.
		'with bytes turned',
		(whole: Buffer) => Buffer.from(whole.map((byte, index) => (index === whole.length - 6 ? byte ^ 255 : byte))),
		'damaged|incomplete',
	],
	['that is another file', () => Buffer.from('{"links": []}'), 'not an Oplink backup'],
	[
		'of a newer program',
		edited((text) => text.replace('"migrations":[', '"migrations":["20260101000000_unknown",')),
		'newer version',
	],
	[
		'with clicks of more months than there can be',
		forged('clicks', ([click = '{}']) =>
			Array.from({length: 250}, (_, index) => {
				const at = new Date(Date.UTC(1000, index)).toISOString();
				return JSON.stringify({...JSON.parse(click), id: randomUUID(), occurred_at: at});
			}),
		),
		'the time of clicks',
	],
	[
		'with a click without a time',
		forged('clicks', ([click = '{}']) => [JSON.stringify({...JSON.parse(click), occurred_at: 'infinity'})]),
		'a row of the table clicks is invalid',
	],
	[
		'with a row that lacks a column',
		forged('links', ([link = '{}']) => [link.replace(/"id":"[^"]+",/, '')]),
		'(row 1 of the table links|a row) is invalid',
	],
	['with another file behind it', (whole: Buffer) => Buffer.concat([whole, gzipSync('{}')]), 'line \\d+ is invalid'],
	['with text behind it', (whole: Buffer) => Buffer.concat([whole, Buffer.from('{}')]), 'damaged'],
	['with zeros behind it', (whole: Buffer) => Buffer.concat([whole, Buffer.alloc(9)]), 'what follows its end'],
	...(isDeep
		? [
				[
					'with a line that is longer than any',
					forged('links', () => [`{"id": "${'x'.repeat(2 ** 27 + 2 ** 18)}"}`]),
					'line \\d+ is invalid',
				] as const,
			]
		: []),
	[
		'with a table twice',
		edited((text) => text.replace(/(\["table","clicks".*\n)/, `$1${noRows}\n$1`)),
		'the table clicks',
	],
	[
		'with a head that is none',
		edited((text) => text.replace(/^.*\n/, '["oplink backup",1,null]\n')),
		'line 1 is invalid',
	],
] as const) {
	test.serial(`a backup ${what} is refused by backup check and by restore, and nothing is changed`, async (t) => {
		const spoiled = spoil(given.backup);
		const stderr = new RegExp(`^Error: .*(${message})`);
		ends(t, await target.restore(spoiled), 1, {stdout: '', stderr: [stderr, /Nothing was changed/]});
		t.is(await contents(target.db), target.before);
		const env = {DATABASE_URL: 'postgres://nobody@database.example/none'};
		ends(t, await runCli('backup check -', {env, stdin: Readable.from([spoiled])}), 1, {stdout: '', stderr});
	});
}

test('a file that is missing or a folder is named as such, before a database is asked or made', async (t) => {
	const cwd = await folderOf(t);
	await mkdir(path.join(cwd, 'folder'));
	for (const [name, fault] of [
		['missing.backup', 'does not exist'],
		['folder', 'is a folder, not a file'],
	] as const) {
		for (const line of [`restore ${name}`, `restore ${name} --force --yes`, `backup check ${name}`]) {
			for (const own of [
				target.env,
				{DATABASE_URL: 'postgres://nobody@database.example/none'},
				{DATA_DIR: path.join(cwd, 'data')},
			]) {
				ends(t, await runCli(line, {env: own, io: {cwd}}), 1, {
					stderr: `Error: ${path.join(cwd, name)} ${fault}\nNext: Correct FILE\n`,
				});
			}
		}
	}

	t.deepEqual(await readdir(cwd), ['folder']);
});
