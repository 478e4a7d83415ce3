"""Region operators in float64, for the operators that no runtime here can run.

Each function follows the rule that README.md of this folder gives for the operator, sample by sample. `features` is
`[N, C, H, W]`, and a box is x1, y1, x2, y2 if nothing else is said.
"""

import math

import numpy as np


def sample_positions(start, length, elements, samples, offset=0.5):
    """Positions along one axis, `samples` for each output element, in this order."""
    return start + (np.arange(elements * samples) // samples
                    + (np.arange(elements * samples) % samples + offset) / samples) * (length / elements)


def sample_count(length, elements, ratio):
    """The samples of an element along one axis, `ratio` or, if that is 0, one for each pixel."""
    return ratio if ratio > 0 else math.ceil(length / elements)


def corners(positions, size):
    """The two pixels around each position and their weights, which are 0 for a position off the map."""
    inside = (positions >= -1) & (positions <= size)
    clamped = np.clip(positions, 0, size - 1)
    low = np.minimum(clamped.astype(int), max(size - 2, 0))
    high = np.minimum(low + 1, size - 1)
    upper = clamped - low
    return np.stack([low, high]), np.stack([1 - upper, upper]) * inside


def weighted_corners(image, y, x):
    """The four pixels of each sample times their weights, `[2, 2, C, samples in y, samples in x]`."""
    (rows, row_weights), (columns, column_weights) = (
        corners(axis, size) for axis, size in zip([y, x], image.shape[1:]))
    return np.stack([[image[:, rows[a]][:, :, columns[b]] * row_weights[a][:, None] * column_weights[b]
                      for b in range(2)] for a in range(2)])


def reduce_samples(products, output, reduction):
    """One number for each output element, from the weighted corners of all its samples."""
    channels, height, width = products.shape[2:]
    shape = (channels, output[0], height // output[0], output[1], width // output[1])
    if reduction == "max of corners":
        return products.max(axis=(0, 1)).reshape(shape).max(axis=(2, 4))
    samples = products.sum(axis=(0, 1)).reshape(shape)
    return samples.max(axis=(2, 4)) if reduction == "max of samples" else samples.mean(axis=(2, 4))


def roi_align(features, indices, boxes, output, scale, ratio, aligned, reduction="mean"):
    """RoiAlign. Without `aligned`, positions are not shifted by half a pixel, and a region is at least a pixel long."""
    pooled = np.zeros((len(boxes), features.shape[1], *output))
    for row, (index, box) in enumerate(zip(indices, boxes.astype(np.float64) * np.float64(scale) - 0.5 * aligned)):
        lengths = [box[3] - box[1], box[2] - box[0]]
        if not aligned:
            lengths = [max(length, 1) for length in lengths]
        counts = [sample_count(length, elements, ratio) for length, elements in zip(lengths, output)]
        y, x = (sample_positions(*axis) for axis in zip([box[1], box[0]], lengths, output, counts))
        products = weighted_corners(features[int(index)].astype(np.float64), y, x)
        pooled[row] = reduce_samples(products, output, reduction)
    return pooled


def roi_align_rotated(features, rois, output, scale, ratio, aligned, clockwise, at_least_a_pixel=False):
    """RoiAlign of rotated boxes: batch index, centre x, centre y, width, height, angle in radians."""
    pooled = np.zeros((len(rois), features.shape[1], *output))
    for row, (index, *box, angle) in enumerate(rois.astype(np.float64)):
        x_centre, y_centre, width, height = np.array(box) * np.float64(scale)
        lengths = [max(height, 1), max(width, 1)] if at_least_a_pixel or not aligned else [height, width]
        centre = np.array([y_centre, x_centre]) - 0.5 * aligned
        counts = [sample_count(length, elements, ratio) for length, elements in zip(lengths, output)]
        y, x = (sample_positions(-length / 2, length, elements, count)
                for length, elements, count in zip(lengths, output, counts))
        samples = turned_samples(features[int(index)].astype(np.float64), y, x, centre, -angle if clockwise else angle)
        shape = (features.shape[1], output[0], counts[0], output[1], counts[1])
        pooled[row] = samples.reshape(shape).mean(axis=(2, 4))
    return pooled


def turned_samples(image, y, x, centre, angle):
    """The samples `[C, samples in y, samples in x]` of a grid that is turned about the centre of its box."""
    rows = y[:, None] * math.cos(angle) - x * math.sin(angle) + centre[0]
    columns = y[:, None] * math.sin(angle) + x * math.cos(angle) + centre[1]
    (row, row_weights), (column, column_weights) = (
        corners(axis.ravel(), size) for axis, size in zip([rows, columns], image.shape[1:]))
    samples = sum(image[:, row[a], column[b]] * row_weights[a] * column_weights[b] for a in range(2) for b in range(2))
    return samples.reshape(-1, len(y), len(x))


def crop_and_resize(features, indices, boxes, output):
    """Bilinear crops of boxes y1, x1, y2, x2, where 0 and 1 are the centres of the first and the last pixel.

    A sample off the map is 0.
    """
    sizes = features.shape[2:]
    crops = np.zeros((len(boxes), features.shape[1], *output))
    for row, (index, box) in enumerate(zip(indices, boxes.astype(np.float64))):
        axes = [crop_positions(box[axis], box[axis + 2], sizes[axis], output[axis]) for axis in range(2)]
        products = weighted_corners(features[int(index)].astype(np.float64), *axes)
        inside = [(axis >= 0) & (axis <= size - 1) for axis, size in zip(axes, sizes)]
        crops[row] = products.sum(axis=(0, 1)) * inside[0][:, None] * inside[1]
    return crops


def crop_positions(low, high, size, elements):
    if elements == 1:
        return np.array([0.5 * (low + high) * (size - 1)])
    return (low + (high - low) * np.arange(elements) / (elements - 1)) * (size - 1)


def multi_level_roi_align(rois, features, output, strides, finest_scale, scale_factor, ratio, aligned, reduction):
    """RoiAlign on the level that the area of a box says. `rois` `[K, 5]` have the batch index first."""
    rois = rois.astype(np.float64)
    sides = np.sqrt((rois[:, 3] - rois[:, 1]) * (rois[:, 4] - rois[:, 2]))
    levels = np.clip(np.floor(np.log2(sides / finest_scale + 1e-6)), 0, len(features) - 1).astype(int)
    boxes = enlarged(rois[:, 1:], scale_factor) if scale_factor > 0 else rois[:, 1:]
    return np.concatenate([np.zeros((0, features[0].shape[1], *output))] + [
        roi_align(features[level], rois[row:row + 1, 0], boxes[row:row + 1], output, 1 / strides[level], ratio, aligned,
                  reduction)
        for row, level in enumerate(levels)])


def multi_level_rotated_roi_align(rois, features, output, strides, finest_scale, scale_factor, ratio, aligned,
                                  clockwise):
    """RoiAlign of rotated boxes `[K, 6]` on the level that the area of a box says. A box is at least a pixel long."""
    rois = rois.astype(np.float64)
    levels = np.clip(np.floor(np.log2(np.sqrt(rois[:, 3] * rois[:, 4]) / finest_scale + 1e-6)), 0, len(features) - 1)
    if scale_factor > 0:
        rois = rois * [1, 1, 1, scale_factor, scale_factor, 1]
    return np.concatenate([np.zeros((0, features[0].shape[1], *output))] + [
        roi_align_rotated(features[level], rois[row:row + 1], output, 1 / strides[level], ratio, aligned, clockwise,
                          at_least_a_pixel=True)
        for row, level in enumerate(levels.astype(int))])


def nms_rotated(boxes, scores, iou_threshold, score_threshold):
    """The image, the class and the box of each kept box. `boxes` are `[N, K, 5]`, with the angle in radians."""
    from shapely import affinity, geometry

    def turned(box):
        x, y, width, height, angle = map(float, box)
        whole = geometry.box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)
        return affinity.rotate(whole, angle, (x, y), use_radians=True)

    rows = []
    for image, index in np.ndindex(scores.shape[:2]):
        shapes, kept = [turned(box) for box in boxes[image]], []
        for at in np.argsort(-scores[image, index], kind="stable"):
            overlaps = [shapes[at].intersection(shapes[other]).area for other in kept]
            unions = [shapes[at].area + shapes[other].area - overlap for other, overlap in zip(kept, overlaps)]
            if all(overlap <= iou_threshold * union for overlap, union in zip(overlaps, unions)):
                kept.append(at)
        rows += [[image, index, at] for at in kept if scores[image, index, at] > score_threshold]
    return np.array(rows, np.int64).reshape(-1, 3)


def enlarged(boxes, factor):
    """Boxes about the same centres. Their lengths plus one pixel are multiplied, and the pixel taken off again."""
    centres, lengths = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
    halves = ((lengths + 1) * factor - 1) / 2
    return np.concatenate([centres - halves, centres + halves], axis=1)


def pyramid_roi_align(rois, features, attributes):
    """TensorRT's PyramidROIAlign of boxes `[N, K, 4]`, as `[N, K, C, pooled_size, pooled_size]`."""
    legacy = attributes.get("legacy", 0)
    image = np.array(attributes.get("image_size", [1024, 1024]), np.float64)
    swapped = legacy or attributes.get("roi_coords_swap", 0)
    boxes = rois.astype(np.float64)[..., [0, 1, 2, 3] if swapped else [1, 0, 3, 2]]
    low, high = np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])
    absolute = not legacy and attributes.get("roi_coords_absolute", 1)
    low, high = (np.clip(end / (image if absolute else 1), 0, 1) for end in (low, high))
    plus_one = not legacy and attributes.get("roi_coords_plusone", 0)
    areas = np.prod(high - low + (1 / image if plus_one else 0), axis=-1)
    # In the legacy mode the thresholds are half as large, and always those of an image of 1024 x 1024.
    first = 224**2 * 2 / 1024**2 / 16 if legacy else attributes.get("fpn_scale", 224)**2 / image.prod() / 4
    levels = sum((areas > first * 4**step).astype(int) for step in range(3))
    transform = -1 if legacy else attributes.get("roi_coords_transform", 2)
    ratio, size = (1 if legacy else attributes.get("sampling_ratio", 0)), attributes.get("pooled_size", 7)
    return np.stack([np.stack([
        pyramid_region(features[level][index].astype(np.float64), *ends, size, transform, ratio)
        for level, *ends in zip(levels[index], low[index], high[index])]) for index in range(len(rois))])


def pyramid_region(image, low, high, size, transform, ratio):
    """One region. Samples off the map take the nearest pixel."""
    pixels = np.array(image.shape[1:])
    if transform == -1:
        axes = [(low[axis] + (high - low)[axis] * np.arange(size) / (size - 1)) * (pixels[axis] - 1)
                for axis in range(2)]
    else:
        start, length = low * pixels - 0.5 * (transform == 2), (high - low) * pixels
        counts = [max(1, sample_count(side, size, ratio)) for side in length]
        axes = [sample_positions(start[axis], length[axis], size, counts[axis], 0.5 * (transform > 0))
                for axis in range(2)]
    axes = [np.clip(axis, 0, side - 1) for axis, side in zip(axes, pixels)]
    return reduce_samples(weighted_corners(image, *axes), (size, size), "mean")


def max_roi_pool(features, rois, output, scale):
    """The largest pixel of each bin of `rois` `[K, 5]`. Coordinates are rounded, and a bin without pixels is 0."""
    pooled = np.zeros((len(rois), features.shape[1], *output))
    sizes = features.shape[2:]
    for row, (index, x1, y1, x2, y2) in enumerate(rois.astype(np.float64)):
        ends = np.floor(np.array([[y1, y2], [x1, x2]]) * scale + 0.5)
        bins = [pool_bins(low, max(high - low + 1, 1), size, elements)
                for (low, high), size, elements in zip(ends, sizes, output)]
        for (i, rows), (j, columns) in ((y, x) for y in enumerate(bins[0]) for x in enumerate(bins[1])):
            pixels = features[int(index)][:, rows, columns]
            if pixels.size:
                pooled[row, :, i, j] = pixels.max(axis=(1, 2))
    return pooled


def pool_bins(low, length, size, elements):
    starts = [low + math.floor(element * length / elements) for element in range(elements)]
    ends = [low + math.ceil((element + 1) * length / elements) for element in range(elements)]
    return [slice(*(int(np.clip(end, 0, size)) for end in pair)) for pair in zip(starts, ends)]
