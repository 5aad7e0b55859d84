least => {
  const slide = document.querySelector(".slide.on") || document.querySelector(".slide");
  const frame = slide.getBoundingClientRect(), found = [], texts = [];
  const walk = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, parent = node.parentElement;
    if (!node.data.trim() || parent.closest(".notes")) continue;
    const range = document.createRange(); range.selectNodeContents(node);
    const clip = parent.closest(".clip1, .clip2, .clip3, .clip4");
    const edge = clip ? clip.getBoundingClientRect() : null;
    for (const r of range.getClientRects()) {
      let b = {l: r.left, r: r.right, t: r.top, b: r.bottom};
      if (edge) b = {l: Math.max(b.l, edge.left), r: Math.min(b.r, edge.right), t: Math.max(b.t, edge.top), b: Math.min(b.b, edge.bottom)};
      if (b.r - b.l < 1 || b.b - b.t < 3) continue;
      const size = parseFloat(getComputedStyle(parent).fontSize);
      if (size < least - 0.01) found.push(`small ${size}: ${node.data.trim()}`);
      if (b.l < frame.left - 1 || b.r > frame.right + 1 || b.t < frame.top - 1 || b.b > frame.bottom + 1) found.push(`outside: ${node.data.trim()}`);
      texts.push({...b, text: node.data.trim(), node, size});
    }
  }
  for (let i = 0; i < texts.length; i++) for (let j = i + 1; j < texts.length; j++) {
    const a = texts[i], b = texts[j];
    if (a.node === b.node) continue;
    const slack = 0.22 * Math.min(a.size, b.size);
    if (a.l < b.r - 1 && b.l < a.r - 1 && a.t < b.b - slack && b.t < a.b - slack) found.push(`collide: ${a.text} | ${b.text}`);
  }
  return found;
}
