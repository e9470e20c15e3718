import {createReadStream} from 'node:fs';
import path from 'node:path';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {createGunzip, createGzip} from 'node:zlib';
import {Option} from 'commander';
import type {BackupTotals} from '../../operations/backup/archive-format.ts';
import type {Holding} from '../../operations/backup/backup-tables.ts';
import type {Restored} from '../../operations/backup/restore-backup.ts';
import type {Db} from '../../platform/db/db.ts';
import {packageVersion} from '../../platform/package-root.ts';
import {counted} from '../../platform/plural.ts';
import {inputError, OperatorError, usageError} from '../cli-errors.ts';
import {type Context, command} from '../command.ts';
import {yesOption} from '../common-options.ts';
import {exitCodes} from '../exit-codes.ts';
import {linesOf} from '../import/formats/lines.ts';
import {fileBehind, replaceFile} from '../replace-file.ts';
import {clickHouseOf, withDatabase} from '../server/with-database.ts';
import {type Io, isBrokenPipe, write} from '../terminal/io.ts';
import {requireAnswerer, requireConsent} from '../terminal/require-consent.ts';

const countText = ({tables, rows}: BackupTotals): string => `${counted(rows, 'row')} of ${counted(tables, 'table')}`;

type Sink = (chunk: Uint8Array) => Promise<void>;

/** The rows of clicks that are in ClickHouse; null: they are in the database. */
const clicksOf = async (db: Db, io: Io): Promise<AsyncIterable<string[]> | null> => {
	const [{areClicksInClickHouse}, {backupRows}] = await Promise.all([
		import('../../visits/clicks/clickhouse/storage-location.ts'),
		import('../../visits/clicks/clickhouse/backup-rows.ts'),
	]);
	return (await areClicksInClickHouse(db)) ? backupRows(db, await clickHouseOf(io)) : null;
};

/** Writes a backup's compressed text to a sink, with backpressure. */
const backUp = async (db: Db, io: Io, sink: Sink): Promise<BackupTotals> => {
	const [{backupText}, {createClock}] = await Promise.all([
		import('../../operations/backup/write-backup.ts'),
		import('../../platform/clock.ts'),
	]);
	const done: {totals?: BackupTotals; failure?: unknown} = {};
	const text = backupText(db, {
		program: packageVersion(),
		now: createClock(0).now(),
		clicksElsewhere: () => clicksOf(db, io),
		onEnd: (totals) => {
			done.totals = totals;
		},
	});
	const take = async (chunks: AsyncIterable<Uint8Array>) => {
		for await (const chunk of chunks) {
			await sink(chunk).catch((error: unknown) => {
				done.failure = error;
				throw error;
			});
		}
	};
	await pipeline(Readable.from(text), createGzip(), take, {signal: io.interruption}).catch((error: unknown) => {
		// Where the sink fails at its first chunk, the stream that it leaves behind reports an abort instead.
		throw done.failure ?? error;
	});
	if (done.totals === undefined) {
		throw new Error('a backup ended without its last line');
	}

	return done.totals;
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

export const backupCommand = command({
	usage: 'backup <file>',
	summary: 'Write a consistent snapshot of the database to a file; the server can keep running',
	options: [new Option('--yes', 'overwrite an existing file without asking')],
	examples: ['backup oplink-2026-11-21.backup', 'backup - | ssh backup.example.com "umask 077; cat > oplink.backup"'],
	run: async (context, file: string) => {
		const {io, show} = context;
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
			await requireConsent(context, `Replace ${file}, written on ${changedAt.toISOString()}?`);
		}

		const done: {totals?: BackupTotals} = {};
		await replaceFile(target, async (handle) => {
			done.totals = await withDatabase(context, (db) => backUp(db, io, (chunk) => handle.writeFile(chunk)));
		});
		await show.answer({file, ...done.totals} as BackupTotals, (totals) => `${countText(totals)} written to ${file}`);
	},
});

/** zlib's errors in terms of a backup. */
const restoreError = async (error: unknown): Promise<unknown> => {
	const {altered, notABackup, truncated} = await import('../../operations/backup/archive-format.ts');
	const {code, message, name} = error as {code?: string; message?: string; name?: string};
	const translated =
		code === 'Z_BUF_ERROR'
			? truncated()
			: code === 'Z_DATA_ERROR'
				? message === 'incorrect header check'
					? notABackup()
					: altered('its contents')
				: error;
	if (name === 'NotEmptyError') {
		return new OperatorError(
			String(message),
			exitCodes.conflict,
			'Restore into a new database, or replace all data with --force',
		);
	}

	return (translated as Error).name === 'BackupError'
		? new OperatorError(`${(translated as Error).message}. Nothing was changed`, exitCodes.failed)
		: translated;
};

const restore = async (db: Db, io: Io, file: string, force: boolean): Promise<Restored> => {
	const [{restoreBackup}, {altered, MAX_LINE, mostUnzipped, tooLarge}] = await Promise.all([
		import('../../operations/backup/restore-backup.ts'),
		import('../../operations/backup/archive-format.ts'),
	]);
	const source = file === '-' ? (io.stdin as Readable) : createReadStream(path.resolve(io.cwd, file));
	// Input errors are thrown by the reader, which may start later.
	const unzipped = createGunzip().on('error', () => {});
	const size = {zipped: 0, unzipped: 0};
	const counted = async function* (chunks: AsyncIterable<Uint8Array>) {
		for await (const chunk of chunks) {
			size.zipped += chunk.length;
			yield chunk;
		}
	};
	const bounded = async function* () {
		for await (const chunk of unzipped as AsyncIterable<Uint8Array>) {
			size.unzipped += chunk.length;
			if (size.unzipped > mostUnzipped(size.zipped)) {
				throw tooLarge();
			}

			yield chunk;
		}
	};
	const feeding = pipeline(source, counted, unzipped, {signal: io.interruption});
	const lines = linesOf(bounded(), {characters: MAX_LINE, fault: (line) => altered(`line ${line}`)});
	const restoring = restoreBackup(db, lines, {force, signal: io.interruption}).finally(() => unzipped.destroy());
	// Always wait for the restore: once committed it is done, whatever happens to the rest of the input.
	const [restored] = await Promise.allSettled([restoring, feeding]);
	if (restored.status === 'rejected') {
		throw await restoreError(restored.reason);
	}

	return restored.value;
};

const replacementQuestion = (place: string, {organizations, links, clicks}: Holding): string =>
	`Replace all data in ${place}: ${counted(organizations, 'organization')}, ${counted(links, 'link')}, ${counted(clicks, 'click')}?`;

export const restoreCommand = command({
	usage: 'restore <file>',
	summary: 'Restore a backup into an empty database, all or nothing; stop the server first',
	examples: ['restore oplink-2026-11-21.backup', 'restore - --force --yes < oplink.backup'],
	options: [new Option('--force', 'replace all data in the database'), yesOption()],
	run: async (context: Context<{force?: boolean}>, file: string) => {
		const {io, options, show} = context;
		const {force = false, yes} = options;
		if (force) {
			requireAnswerer(context);
		}

		const work = async (db: Db, place: string) => {
			const {readHolding} = await import('../../operations/backup/backup-tables.ts');
			const holding = force && !yes ? await readHolding(db) : null;
			if (holding !== null) {
				await requireConsent(context, replacementQuestion(place, holding));
			}

			return restore(db, io, file, force);
		};
		const restored = await withDatabase(context, work, {exclusive: true});
		await show.answer(
			restored,
			(done) => `${countText(done)} restored from a backup of ${done.madeAt}, made by oplink ${done.program}`,
		);
	},
});
