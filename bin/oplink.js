#!/usr/bin/env node
'use strict';

// CommonJS, as package.json beside this file says: Node's loader of modules would take a tenth of a server's start.
// Node 22.1 and later keep what V8 compiled between starts.
require('node:module').enableCompileCache?.();
const {main} = require('../dist/cli/main.cjs');

main(process.argv.slice(2)).then((exitCode) => {
	process.exitCode = exitCode;
});
