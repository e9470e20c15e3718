import {setFlagsFromString} from 'node:v8';

// Most test processes end soon, and Node 20 spends 0.1 s of each on optimizing code that is hardly used again. Later
// versions have no such flag, and a cheaper compiler before that one.
if (process.versions.node.startsWith('20.')) {
	setFlagsFromString('--interrupt-budget=1000000');
}

// Lets Node load TypeScript in a test process. `npm test` compiles all files beforehand, which halves what a start costs.
if (process.env.TEST_COMPILED === undefined) {
	const {register} = await import('tsx/esm/api');
	register();
}
