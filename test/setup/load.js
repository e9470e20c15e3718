// Lets Node load TypeScript in a test process. `npm test` compiles all files beforehand, which halves what a start costs.
if (process.env.TEST_COMPILED === undefined) {
	const {register} = await import('tsx/esm/api');
	register();
}
