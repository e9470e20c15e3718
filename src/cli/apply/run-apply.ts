import {adviceFor} from '../advice.ts';
import {exitCodes, InterruptedError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import {requireAnswerer, requireConsent} from '../prompts.ts';
import {reportError} from '../report-error.ts';
import type {ApiClient} from '../server/admin-client.ts';
import {isBrokenPipe, print} from '../terminal/io.ts';
import {type Change, planOf, takenCodeFaults} from './changes.ts';
import type {FieldChange} from './differences.ts';
import {faultOf, readDocuments} from './documents.ts';
import type {KindName} from './kinds.ts';
import type {Org} from './organizations.ts';
import {PartlyMade, send} from './send.ts';
import {PARALLEL} from './state.ts';

export type ApplyOptions = {check?: boolean; prune?: KindName[]};

const MARKS = {create: '+', update: '~', delete: '-'} as const;

/** A change by its name: `Template Sale (Ab12)`. */
const labelOf = ({kind, name, org: {label}}: Change): string =>
	[kind, name, label === name ? '' : `(${label})`].filter((word) => word !== '').join(' ');

/** A change as people read it: its label, and below it a line for each field. */
const changeText = (change: Change): string => {
	const text = (value: unknown) => (value === '(set)' ? value : JSON.stringify(value));
	const fields = change.fields.map(({field, from, to}) => {
		const [mark, values] =
			from === null ? ['+', text(to)] : to === null ? ['-', text(from)] : ['~', `${text(from)} → ${text(to)}`];
		return `  ${mark} ${field}: ${values}`;
	});
	return [`${MARKS[change.action]} ${labelOf(change)}`, ...fields].join('\n');
};

/** The result of a run as `--json` shows it, and its last line for people. @param check whether all is only planned. */
const resultOf = (changes: readonly Change[], documents: number, check: boolean) => {
	const count = (wanted: Change['action']) =>
		changes.filter(({action, status}) => action === wanted && (check || status === 'done')).length;
	const [created, updated, deleted] = [count('create'), count('update'), count('delete')];
	const unchanged = documents - new Set(changes.flatMap(({doc}) => doc ?? [])).size;
	const listed = changes.map(({action, kind, name, org: {label: org}, doc, fields, status}) => ({
		...{action, kind, name: name === '' ? null : name, org, file: doc?.file ?? null, line: doc?.line ?? null, fields},
		status: status === 'planned' && !check ? 'pending' : status,
	}));
	const applied = !check && changes.every(({status}) => status === 'done');
	const [one, two, three] = check ? ['to create', 'to change', 'to delete'] : ['created', 'changed', 'deleted'];
	return {
		json: {applied, changes: listed, summary: {created, updated, deleted, unchanged}},
		text: `${created} ${one}, ${updated} ${two}, ${deleted} ${three}, ${unchanged} unchanged`,
	};
};

/** A domain of a document that waits for its DNS record. */
const unverified = ({docs, rows}: Org): string[] =>
	[...(docs.Domain?.values() ?? [])].flatMap(({name, identity, spec}) => {
		const {status = 'VERIFIED', verification} = rows.Domain?.get(identity) ?? {};
		const {name: record, type, value} = (verification ?? {}) as Record<string, string>;
		const then = spec['default'] === true ? ', then oplink apply again' : '';
		// No record verifies a rejected name.
		const [set, step] = status === 'REJECTED' ? ['', 'approve'] : ['set this DNS record and ', 'verify'];
		const next = `Next: ${set}run oplink domains ${step} ${name}${then}`;
		return status === 'VERIFIED' ? [] : [`Domain ${name} is ${status}. ${next}\n  ${record} ${type} ${value}`];
	});

/** Up to this number, changes are sent one by one, so nothing is sent after a refusal. */
const MAX_SEQUENTIAL = 50;

/**
 * Groups of changes that may run concurrently: those of one kind. A link that moves to another short code is alone,
 * because an earlier change may have to free that code.
 */
const groupsOf = (changes: readonly Change[]): Change[][] => {
	const most = changes.length > MAX_SEQUENTIAL ? PARALLEL : 1;
	const turns: Change[][] = [];
	const isMove = ({row, fields}: Change) => row !== undefined && fields.some(({field}) => field === 'shortCode');
	for (const change of changes) {
		const turn = turns.at(-1) ?? [];
		const [first = change] = turn;
		const isSame = first.kind === change.kind && (first.doc === null) === (change.doc === null);
		if (turn.length === 0 || turn.length === most || !isSame || isMove(first) || isMove(change)) {
			turns.push([change]);
		} else {
			turn.push(change);
		}
	}

	return turns;
};

/** Splits a change that was made in part: it keeps the fields of `left`. @returns a change with the fields that were made. */
const splitOff = (change: Change, left: readonly FieldChange[]): Change => {
	const isLeft = ({field}: FieldChange) => left.some((one) => one.field === field);
	const made: Change = {...change, fields: change.fields.filter((one) => !isLeft(one)), status: 'done'};
	Object.assign(change, {action: 'update', fields: change.fields.filter(isLeft)});
	return made;
};

/** Makes changes up to the first refusal. @param say gets each in order. @returns the refused one with its error. */
const applyChanges = async (client: ApiClient, changes: Change[], say: (change: Change) => Promise<void>) => {
	for (const turn of groupsOf(changes)) {
		const sent = await Promise.allSettled(turn.map((change) => send(client, change)));
		let refused: {change: Change; error: unknown} | null = null;
		for (const [index, change] of turn.entries()) {
			const result = sent[index];
			if (result?.status === 'fulfilled') {
				change.status = result.value ? 'done' : 'unneeded';
				await (result.value ? say(change) : null);
			} else {
				const error = result?.reason;
				if (error instanceof PartlyMade) {
					const made = splitOff(change, error.left);
					changes.splice(changes.indexOf(change), 0, made);
					await say(made);
				}

				change.status = 'failed';
				refused ??= {change, error: error instanceof PartlyMade ? error.cause : error};
			}
		}

		if (refused !== null) {
			return refused;
		}
	}

	return null;
};

const MAX_NAMED = 20;

const question = (deletions: readonly Change[]): string => {
	const more = deletions.length > MAX_NAMED ? ` and ${deletions.length - MAX_NAMED} more` : '';
	return `Delete ${deletions.slice(0, MAX_NAMED).map(labelOf).join(', ')}${more}?`;
};

/** The run continues if the reader of the output has closed the pipe. */
const ignoreBrokenPipe = (written: Promise<void>): Promise<void> =>
	written.catch((error: unknown) => (isBrokenPipe(error) ? undefined : Promise.reject(error)));

/** Applies documents, or with `check` only shows the changes (contract/operations 20). @returns the exit code. */
export const runApply = async (context: Context<ApplyOptions>, names: readonly string[]): Promise<number> => {
	const {io, show, connection, options} = context;
	const {check = false, prune = []} = options;
	const {docs, faults: ofFiles} = await readDocuments(io, names);
	const nothing = {changes: [], orgs: [], faults: ofFiles};
	const {changes: planned, orgs, faults} = ofFiles.length > 0 ? nothing : await planOf(context, docs, prune);
	if (faults.length > 0) {
		await show.note(faults);
		return exitCodes.usage;
	}

	if (prune.length > 0 && !check) {
		requireAnswerer(context);
	}

	const deletions = planned.filter(({doc}) => doc === null);
	if (deletions.length > 0 && !check) {
		await requireConsent(context, question(deletions));
	}

	const client = connection.admin();
	const taken = check ? await takenCodeFaults(client, planned) : [];
	const say = async (change: Change) => (show.json ? undefined : ignoreBrokenPipe(print(io, changeText(change))));
	const refused = check ? null : await applyChanges(client, planned, say);
	for (const change of check ? planned : []) {
		await say(change);
	}

	const changes = planned.filter(({status}) => status !== 'unneeded');
	const advice = refused && (await adviceFor(refused.error, connection));
	const report = refused && reportError(refused.error, undefined, {advice});
	const [first = '', ...rest] = report?.lines ?? [];
	const failure = report && {message: first.replace(/^Error: /, ''), exitCode: report.exitCode};
	const {json, text} = resultOf(changes, docs.length, check);
	await ignoreBrokenPipe(show.answer({...json, ...(failure && {failure})}, () => text));
	await show.note([...taken, ...[...orgs].flatMap(unverified)]);
	if (refused === null || failure === null) {
		return taken.length > 0 ? exitCodes.conflict : check && changes.length > 0 ? exitCodes.failed : exitCodes.ok;
	}

	const done = changes.filter(({status}) => status === 'done').length;
	const soFar = `${done} of ${changes.length} applied; run it again to go on`;
	if (io.interruption.aborted) {
		throw new InterruptedError(soFar);
	}

	const {doc} = refused.change;
	const refusal = doc === null ? `${labelOf(refused.change)}: ${failure.message}` : faultOf(doc, failure.message);
	await show.note([refusal, ...rest, soFar]);
	return failure.exitCode;
};
