#!/usr/bin/env node
'use strict';

// Before anything else is loaded, in words that old versions parse: they would end with a stack in a package. The version
// is that of "engines" in package.json.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
	process.stderr.write(
		`Error: Oplink needs Node.js 20.19 or later, this is ${process.versions.node}\nNext: Install one, such as from https://nodejs.org/en/download\n`,
	);
	process.exit(1);
}

// CommonJS, declared in package.json beside this file: Node's ES module loader would take a tenth of a server's start.
// Node 22.1 and later cache V8's compiled code between starts.
const {enableCompileCache} = require('node:module');
if (enableCompileCache) {
	enableCompileCache();
}

const {main} = require('../dist/cli/main.cjs');

main(process.argv.slice(2)).then((exitCode) => {
	process.exitCode = exitCode;
});
