import path from 'node:path';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {createGzip} from 'node:zlib';
import {Option} from 'commander';
import type {BackupTotals} from '../../operations/backup/archive-format.ts';
import type {StoredTotals} from '../../operations/backup/backup-tables.ts';
import type {Restored} from '../../operations/backup/restore-backup.ts';
import type {Db} from '../../platform/db/db.ts';
import {packageVersion} from '../../platform/package-root.ts';
import {counted} from '../../platform/text.ts';
import {exitCodes, inputError, OperatorError, usageError} from '../cli-errors.ts';
import {type Context, command} from '../command.ts';
import {yesOption} from '../common-options.ts';
import {requireAnswerer, requireConsent} from '../prompts.ts';
import {fileBehind, replaceFile} from '../replace-file.ts';
import {clickHouseOf, withDatabase} from '../server/with-database.ts';
import {type Io, isBrokenPipe, write} from '../terminal/io.ts';

const countText = ({tables, rows}: BackupTotals): string => `${counted(rows, 'row')} of ${counted(tables, 'table')}`;

type Sink = (chunk: Uint8Array) => Promise<void>;

/** The rows of clicks that are in ClickHouse; null: they are in the database. */
const clicksOf = async (db: Db, io: Io): Promise<AsyncIterable<string[]> | null> => {
	const [{areClicksInClickHouse}, {backupRows}] = await Promise.all([
		import('../../visits/click-stores/clickhouse/storage-location.ts'),
		import('../../visits/click-stores/clickhouse/backup-rows.ts'),
	]);
	return (await areClicksInClickHouse(db)) ? backupRows(db, await clickHouseOf(io)) : null;
};

/** Writes a backup's compressed text to a sink, with backpressure, and reads the written text back. */
const backUp = async (db: Db, io: Io, sink: Sink): Promise<BackupTotals> => {
	const [{backupText}, {readBack}, {archiveLines}, {createClock}] = await Promise.all([
		import('../../operations/backup/write-backup.ts'),
		import('../../operations/backup/check-backup.ts'),
		import('../backup-archive.ts'),
		import('../../platform/clock.ts'),
	]);
	let failure: unknown;
	const text = backupText(db, {
		program: packageVersion(),
		now: createClock(0).now(),
		clicksOutside: () => clicksOf(db, io),
	});
	const written = async function* (chunks: AsyncIterable<Uint8Array>) {
		for await (const chunk of chunks) {
			await sink(chunk).catch((error: unknown) => {
				failure = error;
				throw error;
			});
			yield chunk;
		}
	};
	const check = (chunks: AsyncIterable<Uint8Array>) => readBack(archiveLines(chunks, io.interruption));
	return pipeline(Readable.from(text), createGzip(), written, check, {signal: io.interruption}).catch(
		(error: unknown) => {
			// If the sink fails at its first chunk, its stream reports an abort instead of the error.
			throw failure ?? error;
		},
	);
};

/** A closed pipe is a success elsewhere, but here the backup is incomplete. */
const toStdout =
	(io: Io): Sink =>
	async (chunk) => {
		try {
			await write(io.stdout, chunk);
		} catch (error) {
			throw isBrokenPipe(error) ? inputError('Standard output was closed before the backup was complete') : error;
		}
	};

const checkCommand = command({
	usage: 'check <file>',
	summary: 'Check that a backup is complete',
	about: 'Reads the whole backup, without a database. Only a restore checks constraints.',
	examples: ['check oplink-2026-11-21.backup', 'check - < oplink.backup'],
	run: async ({io, show}, file: string) => {
		const [{archiveLines, openBackup}, {checkBackup}] = await Promise.all([
			import('../backup-archive.ts'),
			import('../../operations/backup/check-backup.ts'),
		]);
		const {chunks, close} = await openBackup(io, file);
		const read = {bytes: 0};
		const checked = await checkBackup(archiveLines(chunks, io.interruption, read)).finally(close);
		const {program, madeAt, rows, tables} = checked;
		await show.answer(
			{ok: true, file, program, madeAt, rows, tables, ...read},
			() => `${file}: ${countText(checked)}, made on ${madeAt} by oplink ${program}; only a restore checks constraints`,
		);
	},
});

export const backupCommand = command({
	usage: 'backup <file>',
	summary: 'Back up the database to a file',
	about: 'The backup is a consistent snapshot. The server can keep running.',
	options: [new Option('--yes', 'overwrite an existing file without asking')],
	subcommands: [checkCommand],
	examples: ['backup oplink-2026-11-21.backup', 'backup - | ssh backup.example.com "umask 077; cat > oplink.backup"'],
	run: async (context, file: string) => {
		const {io, options, show} = context;
		if (file === '-') {
			if (io.stdout.isTTY) {
				throw usageError(
					'A backup is binary and cannot be written to a terminal',
					'Name a file, or redirect standard output',
				);
			}

			const totals = await withDatabase(context, (db) => backUp(db, io, toStdout(io)));
			await show.note(`${countText(totals)} backed up`);
			return;
		}

		const target = path.resolve(io.cwd, file);
		const {changedAt} = await fileBehind(target);
		if (changedAt !== null) {
			await requireConsent({io, options}, `Replace ${file}, written on ${changedAt.toISOString()}?`);
		}

		const done = await replaceFile(target, (handle) =>
			withDatabase(context, (db) => backUp(db, io, (chunk) => handle.writeFile(chunk))),
		);
		await show.answer({file, ...done}, (totals) => `${countText(totals)} written to ${file}`);
	},
});

const restoreError = (error: unknown): unknown => {
	const {message, name} = error as Error;
	if (name === 'NotEmptyError') {
		return new OperatorError(
			message,
			exitCodes.conflict,
			'Restore into a new database, or replace all data with --force',
		);
	}

	return name === 'BackupError' ? inputError(`${message}. Nothing was changed`) : error;
};

const replacementQuestion = (place: string, {organizations, links, clicks}: StoredTotals): string =>
	`Replace all data in ${place}: ${counted(organizations, 'organization')}, ${counted(links, 'link')}, ${counted(clicks, 'click')}?`;

export const restoreCommand = command({
	usage: 'restore <file>',
	summary: 'Restore a backup into an empty database',
	about: 'Restores everything or nothing. Stop the server first.',
	examples: ['restore oplink-2026-11-21.backup', 'restore - --force --yes < oplink.backup'],
	options: [new Option('--force', 'replace all data in the database'), yesOption()],
	run: async (context: Context<{force?: boolean}>, file: string) => {
		const {io, options, show} = context;
		const {force = false, yes} = options;
		if (force) {
			requireAnswerer(context);
		}

		const [{archiveLines, openBackup}, {readStoredTotals}, {restoreBackup}] = await Promise.all([
			import('../backup-archive.ts'),
			import('../../operations/backup/backup-tables.ts'),
			import('../../operations/backup/restore-backup.ts'),
		]);
		// A missing file is reported before a database is made for it.
		const {chunks, close} = await openBackup(io, file);
		const work = async (db: Db, place: string): Promise<Restored> => {
			const holding = force && !yes ? await readStoredTotals(db) : null;
			if (holding !== null) {
				await requireConsent({io, options}, replacementQuestion(place, holding));
			}

			const {interruption: signal} = io;
			return restoreBackup(db, archiveLines(chunks, signal), {force, signal}).catch((error: unknown) => {
				throw restoreError(error);
			});
		};
		const restored = await withDatabase(context, work, {exclusive: true}).finally(close);
		await show.answer(
			restored,
			(done) => `${countText(done)} restored from a backup of ${done.madeAt}, made by oplink ${done.program}`,
		);
	},
});
