import os from 'node:os';
import {parseArgs} from 'node:util';
import {appStatus} from './app-status.ts';
import {cold} from './cold.ts';
import {describe, type Figure} from './figure.ts';
import {firstPage} from './first-page.ts';
import {growthByClicks, growthByLinks} from './growth.ts';
import {ingest} from './ingest.ts';
import {latency} from './latency.ts';
import {linkCheck} from './link-check.ts';
import {lostClicks} from './lost-clicks.ts';
import {match} from './match.ts';
import {memory} from './memory.ts';
import {policy} from './policy.ts';
import {canPin} from './processes.ts';
import {redirect} from './redirect.ts';
import {sharedLimits} from './shared-limits.ts';
import {type Measure, openStage} from './stage.ts';
import {stale} from './stale.ts';
import {taps} from './taps.ts';
import {twoProcesses} from './two-processes.ts';
import {visible} from './visible.ts';
import {createLink, events} from './writes.ts';

// Beside bare servers and bare SQL on the same machine, in one run: docs/measurements.md.
const measures: Measure[] = [
	redirect,
	taps,
	policy,
	linkCheck,
	latency,
	cold,
	ingest,
	lostClicks,
	match,
	growthByLinks,
	growthByClicks,
	events,
	createLink,
	twoProcesses,
	sharedLimits,
	memory,
	firstPage,
	stale,
	visible,
	appStatus,
];

const {values} = parseArgs({
	options: {
		quick: {type: 'boolean', default: false},
		only: {type: 'string', multiple: true, default: []},
		json: {type: 'boolean', default: false},
	},
});
const unknown = values.only.filter((name) => !measures.some((measure) => measure.name === name));
if (unknown.length > 0) {
	console.error(`no measure is called ${unknown.join(', ')}; there are ${measures.map(({name}) => name).join(', ')}`);
	process.exit(2);
}

const loads = () =>
	os
		.loadavg()
		.map((value) => value.toFixed(1))
		.join(' ');
const machine = `${os.cpus().length} cores, ${os.cpus()[0]?.model}, node ${process.version}, load ${loads()}`;
const pinning = canPin ? 'servers and database on core 0, load on core 1' : 'no core of its own for anything';
// The servers that were started end with the process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.once(signal, () => process.exit(1));
}

const {stage, close} = await openStage(values.quick);
const all: Figure[] = [];
const broken: string[] = [];
try {
	console.error(`${machine}; ${pinning}`);
	for (const {name, measure} of measures.filter(({name}) => values.only.length === 0 || values.only.includes(name))) {
		try {
			const figures = await measure(stage);
			all.push(...figures);
			if (!values.json) {
				console.log(figures.map(describe).join('\n'));
			}
		} catch (error) {
			broken.push(name);
			console.error(`${name} could not be measured:`, error);
		}
	}
} finally {
	await close();
}

if (values.json) {
	console.log(JSON.stringify({machine, pinning, quick: values.quick, figures: all, broken}, null, '\t'));
}

// A missed bar is reported; a wrong answer or a missing click is a failure.
process.exitCode = broken.length > 0 || all.some(({failures}) => failures.length > 0) ? 1 : 0;
