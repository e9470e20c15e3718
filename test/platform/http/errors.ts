import {readFileSync} from 'node:fs';
import test from 'ava';
import {nextSteps} from '../../../src/cli/advice.ts';
import * as errors from '../../../src/platform/errors.ts';
import {HttpError} from '../../../src/platform/errors.ts';

/** What errors.ts exports besides refusals. */
const OTHERS = ['HttpError', 'refusal', 'required'];

/** Every refusal, made of empty names. */
const refusals = Object.entries(errors).flatMap(([name, make]) => {
	if (typeof make !== 'function' || OTHERS.includes(name)) {
		return [];
	}

	const made: unknown = (make as (...names: unknown[]) => unknown)(...Array.from(make.toString(), () => []));
	return made instanceof HttpError ? [made] : [];
});
const codes = refusals.map(({code}) => code);

test('each function of errors.ts makes a refusal with a code of its own', (t) => {
	t.is(refusals.length, Object.keys(errors).length - OTHERS.length);
	t.is(new Set(codes).size, codes.length);
	const found = codes.filter((code) => !/^[a-z]+(_[a-z]+)*$/.test(code));
	t.deepEqual(found, []);
});

test('a refusal costs no stack, and a fault of ours has one', (t) => {
	const limit = Error.stackTraceLimit;
	for (const refusal of refusals) {
		t.is(/^ {4}at /m.test(refusal.stack ?? ''), refusal.status >= 500, refusal.code);
	}

	t.is(Error.stackTraceLimit, limit);
});

test("a structured error's code in the body is its code in capitals", (t) => {
	const structured = refusals.filter(({extras}) => extras?.code !== undefined);
	t.is(structured.length, 5);
	for (const {code, extras} of structured) {
		t.is(extras?.code, code.toUpperCase());
	}
});

test("each code of the CLI's next steps is one of a refusal", (t) => {
	const found = Object.keys(nextSteps).filter((code) => !codes.includes(code));
	t.deepEqual(found, []);
});

test('the contract lists the codes of every status', (t) => {
	const text = readFileSync('docs/contract/requests.md', 'utf8');
	const listed = [...text.matchAll(/^\| (\d{3}) \| (`[a-z_`, ]+`) \|$/gm)].flatMap(([, status, names = '']) =>
		[...names.matchAll(/[a-z_]+/g)].map(([code]) => `${status} ${code}`),
	);
	t.deepEqual(listed.toSorted(), refusals.map(({status, code}) => `${status} ${code}`).toSorted());
});
