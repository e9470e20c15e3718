import test from 'ava';
import {html, jsonBlock, render, trusted} from '../../../src/visits/page/html.ts';
import {hostileTexts} from '../../fixtures/link-view.ts';

test('values are escaped, our own markup is not, and missing values write nothing', (t) => {
	const name = `<b>"it's" & more`;
	t.is(render(html`<p title="${name}">${name}</p>`).split('&lt;b&gt;&quot;it&#39;s&quot; &amp; more').length, 3);
	t.is(render(html`${html`<i>${1}</i>`}${[html`<b></b>`, '<']}${trusted('<hr>')}`), '<i>1</i><b></b>&lt;<hr>');
	t.is(render(html`${null}${undefined}${false}${0}${''}`), '0');
});

test('a data block cannot be left and reads back unchanged', (t) => {
	for (const text of hostileTexts) {
		const block = render(jsonBlock({[text]: text}));
		t.notRegex(block, /[<>&\u2028\u2029]/);
		t.deepEqual(JSON.parse(block), {[text]: text});
	}
});
