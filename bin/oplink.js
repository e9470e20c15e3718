#!/usr/bin/env node
'use strict';

// CommonJS, declared in package.json beside this file: Node's ES module loader would take a tenth of a server's start.
// Node 22.1 and later cache V8's compiled code between starts.
require('node:module').enableCompileCache?.();
const {main} = require('../dist/cli/main.cjs');

main(process.argv.slice(2)).then((exitCode) => {
	process.exitCode = exitCode;
});
