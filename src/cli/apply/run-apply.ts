import {adviceFor} from '../advice.ts';
import {InterruptedError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import {exitCodes} from '../exit-codes.ts';
import {inParallel} from '../import/in-parallel.ts';
import {reportError} from '../report-error.ts';
import {requireAnswerer, requireConsent} from '../require-consent.ts';
import {isBrokenPipe, print} from '../terminal/io.ts';
import type {Change} from './changes.ts';
import {faultOf, readDocuments} from './documents.ts';
import type {KindName} from './kinds.ts';
import {type Plan, planOf, takenCodes} from './plan.ts';
import {changeJson, changeText, labelOf, summaryOf, summaryText} from './report.ts';
import {PARALLEL} from './state.ts';

export type ApplyOptions = {check?: boolean; prune?: KindName[]};

/** Domains that wait for their DNS records. */
const unverified = ({states}: Plan): string[] =>
	states.flatMap(({docs, rows}) =>
		[...(docs.get('Domain')?.values() ?? [])].flatMap(({name, identity, spec}) => {
			const {status = 'VERIFIED', verification} = rows.get('Domain')?.get(identity) ?? {};
			const {name: record, type, value} = (verification ?? {}) as Record<string, string>;
			const next = `Next: set this DNS record and run oplink domains verify ${name}${spec['default'] ? ', then oplink apply again' : ''}`;
			return status === 'VERIFIED' ? [] : [`Domain ${name} is ${status}. ${next}\n  ${record} ${type} ${value}`];
		}),
	);

type Failure = {change: Change; error: unknown};

/** What may be done at once: writes of links, and their deletions, unless one moves to another short code. */
const turnsOf = (changes: readonly Change[]): Change[][] => {
	const turns: Change[][] = [];
	let last = '';
	for (const change of changes) {
		const {kind, action, fields} = change;
		const isMove = action === 'update' && fields.some(({field}) => field === 'shortCode');
		const turn = kind !== 'Link' || isMove ? '' : action === 'delete' ? action : 'write';
		turns.push(...(turn === '' || turn !== last ? [[]] : []));
		turns.at(-1)?.push(change);
		last = turn;
	}

	return turns;
};

/** Makes changes up to the first refusal. @param onDone gets each in order. */
const make = async (changes: readonly Change[], onDone: (change: Change) => Promise<void>): Promise<Failure | null> => {
	let failure: Failure | null = null;
	const one = async (change: Change): Promise<void> => {
		if (failure !== null) {
			return;
		}

		try {
			await change.send();
			change.status = 'done';
		} catch (error) {
			change.status = 'failed';
			failure ??= {change, error};
		}
	};
	const waiting = [...changes];
	for (const turn of turnsOf(changes)) {
		for await (const _ of inParallel(turn, PARALLEL, one)) {
			while (waiting[0]?.status === 'done') {
				await onDone(waiting.shift() as Change);
			}
		}
	}

	for (const change of waiting.filter(({status}) => status === 'done')) {
		await onDone(change);
	}

	return failure;
};

const MAX_NAMED = 20;

const question = (deletions: readonly Change[]): string => {
	const more = deletions.length > MAX_NAMED ? ` and ${deletions.length - MAX_NAMED} more` : '';
	return `Delete ${deletions.slice(0, MAX_NAMED).map(labelOf).join(', ')}${more}?`;
};

/** Applies documents, or with `check` shows what that would change (contract/operations 20). @returns the exit code. */
export const runApply = async (context: Context<ApplyOptions>, names: readonly string[]): Promise<number> => {
	const {io, show, connection, options} = context;
	const {check = false, prune = []} = options;
	const {docs, faults} = await readDocuments(io, names);
	if (faults.length === 0 && prune.length > 0 && !check) {
		requireAnswerer(context);
	}

	const plan: Plan = faults.length > 0 ? {states: [], changes: [], faults} : await planOf(context, docs, prune);
	if (plan.faults.length > 0) {
		await show.note(plan.faults.join('\n'));
		return exitCodes.usage;
	}

	const {changes} = plan;
	const taken = check ? await takenCodes(plan) : [];
	const deletions = changes.filter(({action}) => action === 'delete');
	if (deletions.length > 0 && !check) {
		await requireConsent(context, question(deletions));
	}

	const say = async (text: string) =>
		show.json
			? undefined
			: print(io, text).catch((error: unknown) => (isBrokenPipe(error) ? undefined : Promise.reject(error)));
	const showChange = (change: Change) => say(changeText(change));
	const failure = check ? null : await make(changes, showChange);
	for (const change of check ? changes : []) {
		await showChange(change);
	}

	const unchanged = docs.length - (changes.length - deletions.length);
	const summary = summaryOf(changes, unchanged, check);
	const advice = failure && (await adviceFor(failure.error, connection));
	const {lines: [first = '', ...rest] = [], exitCode = exitCodes.ok} = failure
		? reportError(failure.error, undefined, {advice})
		: {};
	const message = first.replace(/^Error: /, '');
	const applied = !check && failure === null;
	const listed = changes.map((change) => changeJson(change, check));
	await show.answer({applied, changes: listed, summary, ...(failure && {failure: {message, exitCode}})}, () =>
		summaryText(summary, check),
	);
	const notes = [...taken, ...unverified(plan)];
	await (notes.length > 0 ? show.note(notes.join('\n')) : null);
	if (failure === null) {
		return taken.length > 0 ? exitCodes.conflict : check && changes.length > 0 ? exitCodes.failed : exitCodes.ok;
	}

	const done = changes.filter(({status}) => status === 'done').length;
	const soFar = `${done} of ${changes.length} applied; run it again to go on`;
	if (io.interruption.aborted) {
		throw new InterruptedError(soFar);
	}

	const {change} = failure;
	const told = change.doc === null ? `${labelOf(change)}: ${message}` : faultOf(change.doc, message);
	await show.note([told, ...rest, soFar].join('\n'));
	return exitCode;
};
