// Outputs beside each other: which are equal, and how far they are from one of them.

// Frameworks that compute the same positions in another order of f32 differ by less.
export const EQUAL = 1e-5;

export function differences(left, right) {
  return left.values.map((value, index) => Math.abs(value - right.values[index]));
}

export function largestDifference(left, right) {
  if (String(left.shape) !== String(right.shape)) return Infinity;
  return differences(left, right).reduce((largest, value) => Math.max(largest, value), 0);
}

// Rows of one family with equal outputs as one group { family, titles, indices, output }. A refused call is one by
// itself.
export function groupsOf(rows, outputs) {
  const groups = [];
  for (const [index, output] of outputs.entries()) {
    const { family, title } = rows[index];
    const same = groups.find((group) => {
      if (group.family !== family || output.error || group.output.error) return false;
      return largestDifference(group.output, output) <= EQUAL;
    });
    if (same) {
      same.titles.push(title);
      same.indices.push(index);
    } else groups.push({ family, titles: [title], indices: [index], output });
  }
  return groups;
}
