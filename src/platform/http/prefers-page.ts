import type {IncomingHttpHeaders} from 'node:http';
import Negotiator from 'negotiator';
import {memoize} from '../memoize.ts';

const isPreferred = memoize(
	(accept) => new Negotiator({headers: {accept}}).mediaType(['application/json', 'text/html']) === 'text/html',
);

/** Whether the caller prefers a page to JSON, which is the default. */
export const prefersPage = ({accept}: IncomingHttpHeaders): boolean => accept !== undefined && isPreferred(accept);
