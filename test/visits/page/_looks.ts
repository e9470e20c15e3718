import type {Page} from 'playwright-core';

/** Layout faults of a page, one line each. */
export const layoutFaults = (page: Page): Promise<string[]> =>
	page.evaluate(() => {
		const faults: string[] = [];
		const name = (element: Element) => `${element.tagName} ${element.className} ${element.textContent?.slice(0, 30)}`;
		const card = document.querySelector('main')?.getBoundingClientRect() ?? new DOMRect();
		if (document.documentElement.scrollWidth > innerWidth) {
			faults.push(`the page is ${document.documentElement.scrollWidth} px wide`);
		}

		// The card clips wider contents, so nothing may be wider.
		const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
			const range = document.createRange();
			range.selectNodeContents(text);
			for (const {left, right, width} of text.textContent?.trim() ? range.getClientRects() : []) {
				if (width > 0 && (left < card.left || right > card.right)) {
					faults.push(`'${text.textContent}' reaches from ${left} to ${right}, beyond the card`);
				}
			}
		}

		for (const target of document.querySelectorAll('a, button')) {
			const {width, height} = target.getBoundingClientRect();
			if (width > 0 && (width < 44 || height < 44)) {
				faults.push(`${name(target)} is ${width} x ${height} px`);
			}
		}

		return faults;
	});

/** The texts of a page whose contrast is below 4.5 to 1, with the contrast (WCAG 2.2, 1.4.3). */
export const faintTexts = (page: Page): Promise<string[]> =>
	page.evaluate(() => {
		type Colour = {rgb: number[]; alpha: number};
		const read = (text: string): Colour => {
			const [red = 0, green = 0, blue = 0, alpha = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
			return {rgb: [red, green, blue], alpha};
		};
		const over = ({rgb, alpha}: Colour, ground: number[]) =>
			rgb.map((part, index) => part * alpha + (ground[index] ?? 0) * (1 - alpha));
		const luminance = (rgb: number[]): number => {
			const [red = 0, green = 0, blue = 0] = rgb.map((part) =>
				part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
			);
			return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
		};
		const lineage = (element: Element | null): Element[] =>
			element === null ? [] : [...lineage(element.parentElement), element];
		const faint: string[] = [];
		const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
			const element = text.parentElement;
			if (element === null || !text.textContent?.trim() || element.getClientRects().length === 0) {
				continue;
			}

			let ground = [255, 255, 255];
			let opacity = 1;
			for (const one of lineage(element)) {
				const style = getComputedStyle(one);
				opacity *= Number(style.opacity);
				ground = over(read(style.backgroundColor), ground);
			}

			const {rgb, alpha} = read(getComputedStyle(element).color);
			const [ink, paper] = [luminance(over({rgb, alpha: alpha * opacity}, ground)), luminance(ground)];
			const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
			if (contrast < 4.5) {
				faint.push(`'${text.textContent}' has ${contrast.toFixed(2)}`);
			}
		}

		return faint;
	});
