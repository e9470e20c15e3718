import test from 'ava';
import {readQuery} from '../../src/http/query.ts';

for (const [url, query] of [
	['/x', {}],
	['/x?', {}],
	['/x?a=1&b=2', {a: '1', b: '2'}],
	['/x?a=1&a=2&a=3', {a: ['1', '2', '3']}],
	['/x?a&=&b==c&&', {a: '', '': '', b: '=c'}],
	['/x?a=%zz+%C3%A9%FF', {a: '%zz é\ufffd'}],
	['/x?a=1?b=2', {a: '1?b=2'}],
	['/x?constructor=1&toString=2', {constructor: '1', toString: '2'}],
	['/x?__proto__=1&__proto__=2&a=3', {a: '3'}],
] as const) {
	test(`the query of ${url} is read as a form`, (t) => {
		t.deepEqual<unknown, unknown>(readQuery(url), query);
	});
}

test('of a query of any length the first thousand parameters are read', (t) => {
	const many = readQuery(`/x?${Array.from({length: 8000}, (_, index) => `k${index}=v`).join('&')}`);
	t.is(Object.keys(many).length, 1000);
	t.is(many['k999'], 'v');
	t.deepEqual(readQuery(`/x?${'a&'.repeat(8000)}`), {a: Array.from({length: 1000}, () => '')});
});
