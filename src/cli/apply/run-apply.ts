import {adviceFor} from '../advice.ts';
import {InterruptedError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import {exitCodes} from '../exit-codes.ts';
import {reportError} from '../report-error.ts';
import {requireAnswerer, requireConsent} from '../require-consent.ts';
import {isBrokenPipe, print} from '../terminal/io.ts';
import type {Change} from './changes.ts';
import {faultOf, readDocuments} from './documents.ts';
import type {KindName} from './kinds.ts';
import type {Org} from './organizations.ts';
import {planOf, takenCodes} from './plan.ts';
import {changeText, labelOf, resultOf} from './report.ts';
import {PARALLEL} from './state.ts';

export type ApplyOptions = {check?: boolean; prune?: KindName[]};

/** A domain of a document that waits for its DNS record. */
const unverified = ({docs, rows}: Org): string[] =>
	[...(docs.get('Domain')?.values() ?? [])].flatMap(({name, identity, spec}) => {
		const {status = 'VERIFIED', verification} = rows.get('Domain')?.get(identity) ?? {};
		const {name: record, type, value} = (verification ?? {}) as Record<string, string>;
		const then = spec['default'] === true ? ', then oplink apply again' : '';
		const next = `Next: set this DNS record and run oplink domains verify ${name}${then}`;
		return status === 'VERIFIED' ? [] : [`Domain ${name} is ${status}. ${next}\n  ${record} ${type} ${value}`];
	});

/** What may be done at once: writes of links, and their deletions, unless one moves to another short code. */
const turnsOf = (changes: readonly Change[]): Change[][] => {
	const turns: Change[][] = [];
	let last = '';
	for (const change of changes) {
		const {kind, action, fields} = change;
		const isMove = action === 'update' && fields.some(({field}) => field === 'shortCode');
		const turn = kind !== 'Link' || isMove ? '' : action === 'delete' ? action : 'write';
		const isNext = turn === '' || turn !== last || turns.at(-1)?.length === PARALLEL;
		turns.push(...(isNext ? [[]] : []));
		turns.at(-1)?.push(change);
		last = turn;
	}

	return turns;
};

/** Makes changes up to the first refusal. @param say gets each in order. @returns the refused one with its error. */
const make = async (changes: readonly Change[], say: (change: Change) => Promise<void>) => {
	for (const turn of turnsOf(changes)) {
		const sent = await Promise.allSettled(turn.map(({send}) => send()));
		for (const [index, change] of turn.entries()) {
			change.status = sent[index]?.status === 'fulfilled' ? 'done' : 'failed';
			await (change.status === 'done' ? say(change) : null);
		}

		for (const [index, result] of sent.entries()) {
			if (result.status === 'rejected') {
				return {change: turn[index] as Change, error: result.reason as unknown};
			}
		}
	}

	return null;
};

const MAX_NAMED = 20;

const question = (deletions: readonly Change[]): string => {
	const more = deletions.length > MAX_NAMED ? ` and ${deletions.length - MAX_NAMED} more` : '';
	return `Delete ${deletions.slice(0, MAX_NAMED).map(labelOf).join(', ')}${more}?`;
};

/** A reader who closed the pipe does not end the run. */
const unlessUnread = (written: Promise<void>): Promise<void> =>
	written.catch((error: unknown) => (isBrokenPipe(error) ? undefined : Promise.reject(error)));

/** Applies documents, or with `check` shows what that would change (contract/operations 20). @returns the exit code. */
export const runApply = async (context: Context<ApplyOptions>, names: readonly string[]): Promise<number> => {
	const {io, show, connection, options} = context;
	const {check = false, prune = []} = options;
	const {docs, faults: ofFiles} = await readDocuments(io, names);
	if (ofFiles.length === 0 && prune.length > 0 && !check) {
		requireAnswerer(context);
	}

	const {changes, orgs, faults} =
		ofFiles.length > 0 ? {changes: [], orgs: [], faults: ofFiles} : await planOf(context, docs, prune);
	if (faults.length > 0) {
		await show.note(faults.join('\n'));
		return exitCodes.usage;
	}

	const deletions = changes.filter(({action}) => action === 'delete');
	if (deletions.length > 0 && !check) {
		await requireConsent(context, question(deletions));
	}

	const taken = check ? await takenCodes(connection.admin(), changes) : [];
	const say = async (change: Change) => (show.json ? undefined : unlessUnread(print(io, changeText(change))));
	const refused = check ? null : await make(changes, say);
	for (const change of check ? changes : []) {
		await say(change);
	}

	const advice = refused && (await adviceFor(refused.error, connection));
	const report = refused && reportError(refused.error, undefined, {advice});
	const [first = '', ...rest] = report?.lines ?? [];
	const failure = report && {message: first.replace(/^Error: /, ''), exitCode: report.exitCode};
	const {json, text} = resultOf(changes, docs.length - changes.length + deletions.length, check);
	await unlessUnread(show.answer({...json, ...(failure && {failure})}, () => text));
	const notes = [...taken, ...[...orgs].flatMap(unverified)];
	await (notes.length > 0 ? show.note(notes.join('\n')) : null);
	if (refused === null || failure === null) {
		return taken.length > 0 ? exitCodes.conflict : check && changes.length > 0 ? exitCodes.failed : exitCodes.ok;
	}

	const done = changes.filter(({status}) => status === 'done').length;
	const soFar = `${done} of ${changes.length} applied; run it again to go on`;
	if (io.interruption.aborted) {
		throw new InterruptedError(soFar);
	}

	const {doc} = refused.change;
	const {message} = failure;
	const refusal = doc === null ? `${labelOf(refused.change)}: ${message}` : faultOf(doc, message);
	await show.note([refusal, ...rest, soFar].join('\n'));
	return failure.exitCode;
};
